import express from "express";
import { expressHandler } from "signalbox/express";
import { postgresStore } from "signalbox/stores/postgres";
import { PATH } from "./endpoint.js";
import { serveOurs } from "./our-receiver.js";
import { serverConfig } from "./serve.js";

const store = postgresStore({ connectionString: serverConfig().database });
await serveOurs((receiver) => express().use(PATH, expressHandler(receiver)), { store });
