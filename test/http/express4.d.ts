// The types of Express 5 describe what these tests use of Express 4 too.
declare module "express4" {
  import express = require("express");
  export = express;
}
