import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../../../temp-folder.js";

/** A certificate of a name, made and signed just now. */
export function selfSigned(name: string): { key: string; cert: string } {
  const folder = tempFolder();
  const key = join(folder, "key.pem");
  const cert = join(folder, "cert.pem");
  const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const files = ["-keyout", key, "-out", cert];
  execFileSync(
    "openssl",
    ["req", "-x509", ...curve, "-nodes", "-days", "2", ...subject, ...files],
    {
      stdio: "ignore",
    },
  );
  return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
}
