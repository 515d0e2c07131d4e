// Google's discovery document as OpenAPI, as far as Prism needs it.
const fs = require("fs");
const path = require("path");
const [source, target, modules] = process.argv.slice(2);
const { convert } = require(path.join(modules, "google-discovery-to-swagger"));
const api = convert(JSON.parse(fs.readFileSync(source, "utf8")));
api.consumes = api.produces = ["application/json"];
api.basePath = "/";
delete api.security;
delete api.securityDefinitions;
// Google's own Rust client sends `{}` where a POST has no body. Google takes it; the description
// does not speak of it.
const nothing = {
  in: "body", name: "nothing", required: false,
  schema: { type: "object", additionalProperties: false },
};
const paths = {};
for (const [at, item] of Object.entries(api.paths)) {
  for (const call of Object.values(item)) {
    if (call && typeof call === "object") delete call.security;
  }
  if (item.post && !(item.post.parameters || []).some((one) => one.in === "body")) {
    item.post.parameters = [...(item.post.parameters || []), nothing];
  }
  paths["/compute/v1" + at] = item;
}
api.paths = paths;
fs.writeFileSync(target, JSON.stringify(api));
