import express from "express4";
import { expressHandler } from "signalbox/express";
import { PATH } from "./endpoint.js";
import { serveOurs } from "./our-receiver.js";

await serveOurs((receiver) => express().use(PATH, expressHandler(receiver)));
