// Puts the protos beside the built code, where it reads them: in the repository and in the package alike.
import { cpSync } from "node:fs";

const here = new URL("..", import.meta.url);
for (const name of ["contract", "observation", "failure", "breaker", "session"]) {
  const path = `tripnote/v1/${name}.proto`;
  cpSync(new URL(`../../${path}`, here), new URL(`dist/proto/${path}`, here));
}
