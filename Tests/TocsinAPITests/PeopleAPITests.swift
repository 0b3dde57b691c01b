import GraphQL
import GraphQLTransport
import JSON
import Synchronization
import Testing
import TocsinAPI
import TocsinAuth
import TocsinCore
import TocsinStore

@Suite("People and groups over GraphQL")
struct PeopleTests {
    private static let root = APIHarness.identity("root").with(groups: [], isAdmin: true, asOf: nil)
    private static let bob = APIHarness.identity("bob")
    private static let byGroup = """
        type Topic @model @auth(rules: [{ allow: owner }, { allow: groups, groups: ["ops"], operations: [read] }]) {
          id: ID!
          name: String!
          arn: String!
        }
        type Message @model @auth(rules: [
          { allow: owner, operations: [create, read] }, { allow: groups, groups: ["ops"], operations: [read] }
        ]) {
          id: ID!
          type: Int!
          title: String!
          body: String!
          createdAt: AWSDateTime!
          topicId: ID!
          topic: Topic @hasOne(fields: ["topicId"])
        }
        """

    private static func code(_ answer: JSONValue) -> JSONValue? { answer["errors"]?[0]?["extensions"]?["code"] }

    private func makeUser(_ name: String, _ api: APIHarness, more: String = "") async throws -> Account {
        let answer = try await api.run("mutation { createUser(name: \"\(name)\"\(more)) { id } }", as: Self.root)
        let id = try #require(answer["data"]?["createUser"]?["id"]?.stringValue, "\(answer)")
        let found = try await api.store.read { reader throws(StoreError) in try reader.account(UserID(id)) }
        return try #require(found)
    }

    @Test("an admin makes groups and members, sees them page by page, and removes them")
    func groups() async throws {
        let api = try await APIHarness()
        for name in ["ann", "bob"] { _ = try await makeUser(name, api) }
        let made = try await api.run(
            "mutation { createGroup(name: \"ops\", description: \"on call\") { id name description source } }",
            as: Self.root
        )
        let id = try #require(made["data"]?["createGroup"]?["id"]?.stringValue, "\(made)")
        for name in ["ann", "bob", "bob"] {
            let add = "mutation { addGroupMember(groupId: \"\(id)\", user: \"\(name)\") { name } }"
            #expect(try await api.run(add, as: Self.root)["errors"] == nil)
        }
        let seen = try await api.run(
            "{ group(name: \"ops\") { members(limit: 1) { items { name groups } nextToken } } users { items { name groups } } }",
            as: Self.root
        )
        let members = seen["data"]?["group"]?["members"]
        #expect(members?["items"] == [["name": "ann", "groups": ["ops"]]], "\(seen)")
        #expect(members?["nextToken"]?.stringValue != nil)
        #expect(seen["data"]?["users"]?["items"]?.arrayValue?.count == 2)
        let gone = try await api.run("mutation { deleteGroup(id: \"\(id)\") { name } }", as: Self.root)
        #expect(gone["data"]?["deleteGroup"]?["name"] == "ops", "\(gone)")
        let after = try await api.run("{ groups { items { name } } user(name: \"bob\") { groups } }", as: Self.root)
        #expect(after["data"] == ["groups": ["items": []], "user": ["groups": []]], "\(after)")
    }

    @Test("who is no admin is answered as if nothing were there, but for themselves")
    func strangers() async throws {
        let api = try await APIHarness()
        let ann = try await makeUser("ann", api)
        let me = Identity(userID: ann.id, username: "ann")
        let own = try await api.run("{ user(id: \"\(ann.id)\") { name admin } }", as: me)
        #expect(own["data"]?["user"] == ["name": "ann", "admin": false], "\(own)")
        for name in ["ann", "nobody"] {
            let answer = try await api.run(
                "{ user(name: \"\(name)\") { name } group(name: \"g\") { name } }",
                as: Self.bob
            )
            #expect(answer["data"] == ["user": nil, "group": nil], "\(answer)")
        }
        for field in ["users { items { name } }", "groups { items { name } }"] {
            #expect(Self.code(try await api.run("{ \(field) }", as: Self.bob)) == "UNAUTHORIZED")
        }
        var readOnly = Self.root
        readOnly.scope = .readOnly
        let refused = try await api.run("mutation { createGroup(name: \"g\") { id } }", as: readOnly)
        #expect(Self.code(refused) == "UNAUTHORIZED", "\(refused)")
        #expect(try await api.run("{ users { items { name } } }", as: readOnly)["errors"] == nil)
    }

    @Test(
        "what cannot be is refused in words",
        arguments: [
            ("createGroup(name: \"\") { id }", "printable characters"),
            ("createGroup(name: \"oidc:ops\") { id }", "may not begin with oidc:"),
            ("createGroup(name: \"oidc:\\u0301ops\") { id }", "may not begin with oidc:"),
            ("createGroup(name: \"a\\u0007b\") { id }", "printable characters"),
            ("deleteGroup(id: \"none\") { id }", "There is no group none"),
            ("addGroupMember(groupId: \"none\", user: \"ann\") { id }", "There is no group none"),
            ("createUser(name: \"two words\") { id }", "A user name is"),
            ("createUser(name: \"cleo\u{202E}2\") { id }", "A user name is"),
            ("createUser(name: \"eve\", password: \"short\") { id }", "at least 10 characters"),
            ("createUser(name: \"long-enough\", password: \"Long-Enough\") { id }", "may not be the user's name"),
            ("createServiceAccount(name: \"robot\", managedBy: \"nobody\") { id }", "no user and no group nobody"),
            ("setAdmin(id: \"none\", admin: true) { id }", "There is no user none"),
        ]
    )
    func refused(field: String, expected: String) async throws {
        let api = try await APIHarness()
        let answer = try await api.run("mutation { \(field) }", as: Self.root)
        #expect(answer["errors"]?[0]?["message"]?.stringValue?.contains(expected) == true, "\(answer)")
        #expect(Self.code(answer) == "BAD_USER_INPUT", "\(answer)")
    }

    @Test("the last admin can be neither disabled nor made none, until there is another")
    func lastAdmin() async throws {
        let api = try await APIHarness()
        let ann = try await makeUser("ann", api, more: ", admin: true")
        let tries = [
            "setAdmin(id: \"\(ann.id)\", admin: false) { admin }",
            "setUserDisabled(id: \"\(ann.id)\", disabled: true) { id }",
        ]
        for field in tries {
            let answer = try await api.run("mutation { \(field) }", as: Self.root)
            #expect(Self.code(answer) == "CONFLICT", "\(answer)")
        }
        _ = try await makeUser("bob", api, more: ", admin: true")
        let answer = try await api.run("mutation { \(tries[0]) }", as: Self.root)
        #expect(answer["data"]?["setAdmin"]?["admin"] == false, "\(answer)")
    }

    @Test("a service account has no password and no flag; who manages it sees it")
    func serviceAccounts() async throws {
        let api = try await APIHarness()
        let ann = try await makeUser("ann", api)
        let made = try await api.run(
            "mutation { createServiceAccount(name: \"robot\", managedBy: \"ann\") { id kind managedBy } }",
            as: Self.root
        )
        let robot = made["data"]?["createServiceAccount"]
        #expect(robot?["kind"] == "SERVICE", "\(made)")
        #expect(robot?["managedBy"] == .string("user:\(ann.id)"))
        let manager = Identity(userID: ann.id, username: "ann")
        let seen = try await api.run("{ user(name: \"robot\") { name } }", as: manager)
        #expect(seen["data"]?["user"]?["name"] == "robot", "\(seen)")
        let id = robot?["id"]?.stringValue ?? ""
        for field in ["setAdmin(id: \"\(id)\", admin: true) { id }", "resetPassword(id: \"\(id)\") { password }"] {
            let answer = try await api.run("mutation { \(field) }", as: Self.root)
            #expect(Self.code(answer) == "BAD_USER_INPUT", "\(answer)")
        }
    }

    @Test("a password is changed with the old one, and an admin's new one takes its place")
    func passwords() async throws {
        let api = try await APIHarness()
        let ann = try await makeUser("ann", api, more: ", password: \"a first password\"")
        let me = Identity(userID: ann.id, username: "ann")
        func change(_ old: String, _ new: String) async throws -> JSONValue {
            try await api.run("mutation { setPassword(old: \"\(old)\", new: \"\(new)\") { name } }", as: me)
        }
        #expect(Self.code(try await change("not this one", "a second password")) == "BAD_USER_INPUT")
        #expect(try await change("a first password", "a second password")["errors"] == nil)
        let reset = try await api.run("mutation { resetPassword(id: \"\(ann.id)\") { password } }", as: Self.root)
        let password = try #require(reset["data"]?["resetPassword"]?["password"]?.stringValue, "\(reset)")
        #expect(password.count == 20)
        #expect(Self.code(try await change("a second password", "a third password")) == "BAD_USER_INPUT")
        #expect(try await change(password, "a third password")["errors"] == nil)
    }

    @Test("an old password is tried no more often than one at the sign-in")
    func triedPasswords() async throws {
        let api = try await APIHarness(passwords: PlainPasswords())
        let ann = try await makeUser("ann", api, more: ", password: \"a first password\"")
        let me = Identity(userID: ann.id, username: "ann")
        func change(_ old: String, from address: String) async throws -> JSONValue {
            try await RequestOrigin.$current.withValue(RequestOrigin(address: address)) {
                try await api.run("mutation { setPassword(old: \"\(old)\", new: \"a new password\") { name } }", as: me)
            }
        }
        for number in 0..<30 {
            #expect(Self.code(try await change("guess \(number)", from: "192.0.2.7")) == "BAD_USER_INPUT")
        }
        let right = try await change("a first password", from: "192.0.2.7")
        #expect(Self.code(right) == "LIMIT", "\(right)")
        #expect(try await change("a first password", from: "198.51.100.1")["errors"] == nil)
    }

    @Test("a group that goes takes all its grants along, however many there are")
    func groupOfManyGrants() async throws {
        let api = try await APIHarness()
        let made = try await api.run("mutation { createGroup(name: \"ops\") { id } }", as: Self.root)
        let id = try #require(made["data"]?["createGroup"]?["id"]?.stringValue, "\(made)")
        try await api.makeTopics(1001, sharedWith: "ops")
        let gone = try await api.run("mutation { deleteGroup(id: \"\(id)\") { name } }", as: Self.root)
        #expect(gone["data"]?["deleteGroup"]?["name"] == "ops", "\(gone)")
        let left = try await api.store.read { reader throws(StoreError) in
            try reader.grants(of: .group("ops"), after: nil, limit: 1)
        }
        #expect(left.isEmpty)
        // Another group of the name has nothing of the first one's.
        _ = try await api.run("mutation { createGroup(name: \"ops\") { id } }", as: Self.root)
        let member = Self.bob.with(groups: ["ops"], isAdmin: false, asOf: nil)
        #expect(try await api.run("{ getTopic(id: \"t7\") { id } }", as: member)["data"] == ["getTopic": nil])
    }

    @Test("a member reads by a group's rule, and a subscription of before the end of it ends")
    func rules() async throws {
        let api = try await APIHarness(model: Self.byGroup)
        let topic = try await api.makeTopic()
        let ann = try await makeUser("ann", api)
        let member = Identity(userID: ann.id, username: "ann").with(groups: ["ops"], isAdmin: false, asOf: nil)
        let read = "{ getTopic(id: \"\(topic)\") { id } }"
        #expect(try await api.run(read, as: member)["data"]?["getTopic"]?["id"] == .string(topic))
        #expect(try await api.run(read, as: Self.bob)["data"]?["getTopic"] == .null)
        let (sink, outcome) = await api.subscribe(
            "subscription { onCreateMessage(topicId: \"\(topic)\") { title } }",
            as: member
        )
        guard case .stream = outcome else {
            Issue.record("\(outcome)")
            return
        }
        try await api.publish("first", to: topic)
        #expect(try await sink.take(1).first?["data"]?["onCreateMessage"]?["title"] == "first")
        let groups = api.services.groups
        let group = try await groups.add(name: "ops", description: nil, by: .shell)
        _ = try await groups.add(UserReference("ann"), to: GroupReference(id: group.id.text), by: .shell)
        try await api.publish("second", to: topic)
        // Whatever is committed behind the change is not shown by what was verified before it.
        #expect(try await sink.take(1).isEmpty)
        #expect(sink.endings.withLock { $0 } == [.rightsChanged])
    }

    @Test("a model file with a User of its own keeps it, and people are left out")
    func modelOfThatName() async throws {
        let text = Self.byGroup + "\ntype User @model @auth(rules: [{ allow: owner }]) { id: ID! nick: String }"
        let api = try await APIHarness(model: text)
        #expect(api.schema.peopleConflict?.contains("User") == true)
        let answer = try await api.run("mutation { createUser(input: {nick: \"a\"}) { nick } }")
        #expect(answer["data"]?["createUser"]?["nick"] == "a", "\(answer)")
        #expect(try await api.run("{ me { groups admin } }")["data"]?["me"] == ["groups": [], "admin": false])
    }
}
