// A token that may publish to one topic and do nothing else, with the command that uses it.
import { base, proven } from "./api.js";
import { texts } from "./texts.js";

const MAKE = "mutation Token($input: CreateTokenInput!) { createToken(input: $input) { text } }";

/** Makes one; answers its text, which is shown this once, and the command. */
export async function makePublishToken({ id, name: topic }, name) {
  const { createToken: { text } } = await proven(MAKE, { input: { name, scopes: [`publish:${id}`] } });
  const body = JSON.stringify({ topic, title: texts.start.hello, body: texts.start.helloBody }).replaceAll("'", "'\\''");
  const command = `curl ${location.origin}${base}/tcm/create-message \\\n  -H "Authorization: Bearer ${text}" \\\n  -H 'Content-Type: application/json' -d '${body}'`;
  return { text, command };
}
