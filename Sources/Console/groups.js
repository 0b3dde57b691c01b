// Groups of local users: made, filled, deleted. Administrators have all of them, as a part of People, and who may make groups
// those they made.
import { all, client, proven } from "./api.js";
import { el, field, form, note, put, sure, table } from "./dom.js";
import { explained, texts } from "./texts.js";

const GROUPS = "query Groups($nextToken: String) { groups(limit: 100, nextToken: $nextToken) { items { id name maker members(limit: 200) { items { name } } } nextToken } }";

/** A table of groups and a form that fills them; `changed` is run after each change. */
export function groupsPart(changed) {
  const shown = el("div");
  const run = (document, variables) => async () => {
    try {
      await proven(document, variables);
      await changed();
    } catch (error) {
      note(explained(error));
    }
  };
  const members = (name, id, each) => each.items.filter(Boolean).map((member) => [el("button", {
    className: "small", "aria-label": texts.people.takeOut(member.name, name),
    onclick: run("mutation Out($id: ID!, $user: String!) { removeGroupMember(groupId: $id, user: $user) { id } }", { id, user: member.name }),
  }, `${member.name} ✕`), " "]);
  const row = (names) => ({ id, name, maker, members: each }) => [
    el("span", { className: "free" }, name), members(name, id, each),
    ...(names ? [el("span", { className: "free" }, names.get(maker) ?? maker ?? texts.people.operator)] : []),
    el("button", {
      className: "danger", "aria-label": texts.people.deleteGroup(name),
      onclick: () => sure(texts.people.sureDeleteGroup(name)) && run("mutation Gone($id: ID!) { deleteGroup(id: $id) { id } }", { id })(),
    }, texts.words.delete),
  ];
  const [group, member] = [0, 1].map(() => el("input", { required: true, autocomplete: "off" }));
  return {
    body: [shown, form([
      field(texts.people.group, group, texts.people.groupHint), field(texts.people.member, member),
    ], texts.people.putIn, async () => {
      const { group: known } = await client.query("query Known($name: String) { group(name: $name) { id } }", { name: group.value });
      const found = known ?? (await proven("mutation Group($name: String!) { createGroup(name: $name) { id } }", { name: group.value })).createGroup;
      await proven("mutation In($id: ID!, $user: String!) { addGroupMember(groupId: $id, user: $user) { id } }", { id: found.id, user: member.value });
      await changed();
    }, { explain: explained })],
    load: () => all(GROUPS, {}, (data) => data.groups),
    /** Shows groups that were loaded; with the names of users also who made each. */
    show(known, names) {
      const columns = names ? texts.people.groupColumnsOfAll : texts.people.groupColumns;
      put(shown, known.length > 0 ? table(texts.people.groups, columns, known.filter(Boolean).map(row(names))) : el("p", {}, texts.people.noGroup));
    },
  };
}

export async function open() {
  const groups = groupsPart(draw);
  async function draw() {
    groups.show(await groups.load());
  }
  await draw();
  return { title: texts.places.groups, body: [el("p", { className: "hint" }, texts.people.groupsHint), ...groups.body] };
}
