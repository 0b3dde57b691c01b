"""Grants and tokens that are changed while servers are killed, compared with the audit. See killrounds.py."""

import collections
import json
import random
import threading
import time

from tocsin import ANSWERED, REFUSED, send

GRANT = "mutation($t: ID!, $g: String) { made: grantTopic(input: { topicId: $t, group: $g, roles: [READER] }) { id } }"
REVOKE = "mutation($id: ID!) { made: revokeGrant(id: $id) { id } }"
CREATE = 'mutation($n: String!) { made: createToken(input: { name: $n, scopes: ["read"] }) { text token { id } } }'
ROTATE = "mutation($id: ID!) { made: rotateToken(id: $id, overlapSeconds: 0) { text token { id } } }"
END = "mutation($id: ID!) { made: revokeToken(id: $id) { id } }"
GRANTS = "query($t: ID!, $n: String) { getTopic(id: $t) { page: grants(limit: 100, nextToken: $n) { nextToken items { id } } } }"
TOKENS = "query($n: String) { page: tokens(limit: 100, nextToken: $n) { nextToken items { id name revokedAt rotatedTo } } }"
AUDIT = """query($a: String, $n: String) { page: auditEvents(filter: { action: $a, outcome: DONE }, limit: 100, nextToken: $n) {
    nextToken items { id action subject detail } } }"""
# Of so many lives one is left as it is; a topic has at most 500 grants, a user 100 tokens.
LEFT = 20


class Change:
    """One request that was sent once."""

    def __init__(self, action, about, outcome):
        # It is about a group where a grant is made, a name where a token is, else about an id.
        self.action, self.about, self.outcome = action, about, outcome


class Changer(threading.Thread):
    """A user who shares a topic and makes tokens, and takes back nearly all of it, without a break."""

    def __init__(self, servers, over, number):
        super().__init__(daemon=True)
        self._servers, self._over, self._number = servers, over, number
        name = f"changer{number}"
        self._token = servers[0].add_user(name)
        self._topic = servers[0].create_topic(self._token, name)
        self.changes, self.failure = [], None
        # Of tokens that were made: their texts by their ids.
        self._texts = {}

    def run(self):
        try:
            count = 0
            while not self._over.is_set():
                count += 1
                self._live_grant(f"group-{self._number}-{count}", count % LEFT == 0)
                self._live_token(f"token-{self._number}-{count}", count % LEFT == 0)
                # So that many rounds come to some hundred lives.
                time.sleep(0.05)
        except Exception as error:
            self.failure = error

    def _live_grant(self, group, stays):
        grant = self._change("grant.create", group, GRANT, t=self._topic, g=group).get("id")
        if grant and not stays:
            self._change("grant.revoke", grant, REVOKE, id=grant)

    def _live_token(self, name, stays):
        token = self._noted(self._change("token.create", name, CREATE, n=name))
        if token and self._number % 2 == 0:
            token = self._noted(self._change("token.rotate", token, ROTATE, id=token))
        if token and not stays:
            self._change("token.revoke", token, END, id=token)

    def _noted(self, made):
        """The id of a token that was made."""
        id = made.get("token", {}).get("id")
        if id:
            self._texts[id] = made["text"]
        return id

    def _change(self, action, about, query, **variables):
        """What the answer says of it; nothing where there was none."""
        body = {"query": query, "variables": variables}
        fields = [("Authorization", f"Bearer {self._token}")]
        outcome, answer = send(random.choice(self._servers).host, "/graphql", body, fields)
        said = json.loads(answer[1]) if answer else {}
        if said.get("errors"):
            # Many rounds come to more tokens than a user may make in an hour.
            assert [error["extensions"]["code"] for error in said["errors"]] == ["LIMIT"], f"{action}: {said}"
            outcome = REFUSED
        self.changes.append(Change(action, about, outcome))
        return said["data"]["made"] if outcome == ANSWERED else {}

    # What is there in the end.

    def compare(self):
        """Compares answers, audit, and what is there; answers how many changes had which outcome."""
        rows = [row for action in ("grant.*", "token.*") for row in self._all(AUDIT, a=action)]
        for row in rows:
            row["detail"] = json.loads(row["detail"])
        self._compare_answers(rows)
        self._compare_grants(rows)
        self._compare_tokens(rows)
        return collections.Counter(change.outcome for change in self.changes)

    def _compare_answers(self, rows):
        """An answered change has one row, a refused one none, one without an answer at most one."""
        found = collections.Counter((row["action"], about(row)) for row in rows)
        for change in self.changes:
            count = found.pop((change.action, change.about), 0)
            most, least = int(change.outcome != REFUSED), int(change.outcome == ANSWERED)
            assert least <= count <= most, (change.action, change.about, change.outcome, count)
        # The first token was made by an operator's command.
        assert sum(found.values()) == 1, f"rows of changes that nobody asked for: {found}"

    def _compare_grants(self, rows):
        made = {row["detail"]["grant"] for row in rows if row["action"] == "grant.create"}
        ended = {row["detail"]["grant"] for row in rows if row["action"] == "grant.revoke"}
        there = {item["id"] for item in self._all(GRANTS, t=self._topic)}
        assert ended <= made and there == made - ended, f"without a row: {there - made}, without effect: {made - ended - there}"

    def _compare_tokens(self, rows):
        made = {row["subject"] for row in rows if row["action"] == "token.create"}
        made |= {row["detail"]["rotatedTo"] for row in rows if row["action"] == "token.rotate"}
        ended = {row["subject"] for row in rows if row["action"] in ("token.rotate", "token.revoke")}
        items = self._all(TOKENS)
        good = {item["id"] for item in items if not item["revokedAt"] and not item["rotatedTo"]}
        assert ended <= made and good == made - ended, f"without a row: {good - made}, without effect: {made - ended - good}"
        for id, text in self._texts.items():
            outcome, _ = send(
                random.choice(self._servers).host, "/graphql", {"query": "{ __typename }"}, [("Authorization", f"Bearer {text}")]
            )
            assert outcome == (ANSWERED if id in good else REFUSED), f"token {id} is {outcome}"

    def _all(self, query, **variables):
        items, after = [], None
        while True:
            data = self._servers[0].post(self._token, query, n=after, **variables)
            page = (data.get("getTopic") or data)["page"]
            items += page["items"]
            after = page["nextToken"]
            if not after:
                return items


def about(row):
    """What the row is about, as a change says it."""
    detail = row["detail"]
    match row["action"]:
        case "grant.create":
            return detail["subject"].partition(":")[2]
        case "grant.revoke":
            return detail["grant"]
        case "token.create":
            return detail["name"]
    return row["subject"]
