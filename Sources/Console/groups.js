// Groups of local users: made, filled, deleted. Administrators have all of them, as a part of People, and who may make groups
// those they made.
import { client, proven } from "./api.js";
import { el, field, form, note, sure, table } from "./dom.js";
import { paged } from "./pages.js";
import { explained, texts } from "./texts.js";

/** So many groups, with so many of each one's members, cost less than the server allows for one answer. */
const MEMBERS = "members(limit: 50, nextToken: $members) { items { name } nextToken }";
const GROUPS = `query Groups($nextToken: String, $members: String) { groups(limit: 50, nextToken: $nextToken) { items { id name maker ${MEMBERS} } nextToken } }`;
const MORE = `query Members($id: ID!, $members: String) { group(id: $id) { ${MEMBERS} } }`;

/** A table of groups and a form that fills them; `changed` is run after each change. With `names` of users also who made each. */
export function groupsPart(changed, names = null) {
  const run = (document, variables) => async () => {
    try {
      await proven(document, variables);
      await changed();
    } catch (error) {
      note(explained(error));
    }
  };
  /** The members of each group, as far as they are shown. */
  const memberLists = new Map();
  const membersOf = ({ id, name, members }) => {
    if (!memberLists.has(id)) {
      memberLists.set(id, paged({
        name: texts.people.membersOf(name),
        load: async (token) => (await client.query(MORE, { id, members: token })).group.members,
        draw: (found) => found.map((member) => [el("button", {
          className: "small", "aria-label": texts.people.takeOut(member.name, name),
          onclick: run("mutation Out($id: ID!, $user: String!) { removeGroupMember(groupId: $id, user: $user) { id } }", { id, user: member.name }),
        }, `${member.name} ✕`), " "]),
      }));
    }
    const list = memberLists.get(id);
    list.begin(members).catch((error) => note(explained(error)));
    return list.element;
  };
  const row = ({ id, name, maker, members }) => [
    el("span", { className: "free" }, name), membersOf({ id, name, members }),
    ...(names ? [el("span", { className: "free" }, names.get(maker) ?? maker ?? texts.people.operator)] : []),
    el("button", {
      className: "danger", "aria-label": texts.people.deleteGroup(name),
      onclick: () => sure(texts.people.sureDeleteGroup(name)) && run("mutation Gone($id: ID!) { deleteGroup(id: $id) { id } }", { id })(),
    }, texts.words.delete),
  ];
  const columns = names ? texts.people.groupColumnsOfAll : texts.people.groupColumns;
  const list = paged({
    name: texts.people.groups,
    load: async (nextToken) => (await client.query(GROUPS, { nextToken })).groups,
    draw: (known) => (known.length > 0 ? table(texts.people.groups, columns, known.map(row)) : el("p", {}, texts.people.noGroup)),
  });
  const [group, member] = [0, 1].map(() => el("input", { required: true, autocomplete: "off" }));
  return {
    body: [list.element, form([
      field(texts.people.group, group, texts.people.groupHint), field(texts.people.member, member),
    ], texts.people.putIn, async () => {
      const { group: known } = await client.query("query Known($name: String) { group(name: $name) { id } }", { name: group.value });
      const found = known ?? (await proven("mutation Group($name: String!) { createGroup(name: $name) { id } }", { name: group.value })).createGroup;
      try {
        await proven("mutation In($id: ID!, $user: String!) { addGroupMember(groupId: $id, user: $user) { id } }", { id: found.id, user: member.value });
      } catch (error) {
        // The group is there all the same.
        if (!known) await changed();
        throw error;
      }
      await changed();
    }, { explain: explained })],
    begin: () => list.begin(),
  };
}

export async function open() {
  const groups = groupsPart(draw);
  function draw() {
    return groups.begin();
  }
  await draw();
  return { title: texts.places.groups, body: [el("p", { className: "hint" }, texts.people.groupsHint), ...groups.body] };
}
