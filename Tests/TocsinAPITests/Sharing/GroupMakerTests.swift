import JSON
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("People who may make groups")
struct GroupMakerTests {
    private static let root = APIHarness.identity("root").with(groups: [], isAdmin: true, asOf: nil)
    /// The letter é as one character, and as two.
    private static let (cafe, otherCafe) = ("caf\u{E9}", "cafe\u{301}")

    private static func model(readers: String) -> String {
        """
        type Topic @model @auth(rules: [{ allow: owner }, { allow: groups, \(readers), operations: [read] }]) {
          id: ID!
          name: String!
          arn: String!
          team: String
        }
        type Message @model @auth(rules: [{ allow: owner, operations: [create, read] }]) {
          id: ID!
          type: Int!
          title: String!
          body: String!
          createdAt: AWSDateTime!
          topicId: ID!
          topic: Topic @hasOne(fields: ["topicId"])
        }
        """
    }

    /// Ann and Eve, who may make groups, and others, who may not.
    private struct Scene {
        let api: APIHarness
        let (ann, eve): (Identity, Identity)
        static let (mary, bob) = (APIHarness.identity("mary"), APIHarness.identity("bob"))

        init(model: String? = nil, limits: ServiceLimits = ServiceLimits()) async throws {
            api = try await APIHarness(model: model, limits: limits)
            for name in ["ann", "eve", "bob", "mary"] { try await SharingScene.add(name, to: api) }
            (ann, eve) = (Self.maker("ann"), Self.maker("eve"))
            for name in ["ann", "eve"] { try await setMaker(name, true) }
        }

        static func maker(_ name: String) -> Identity {
            APIHarness.identity(name).with(groups: [], isAdmin: false, isGroupMaker: true, asOf: nil)
        }

        func setMaker(_ name: String, _ may: Bool) async throws {
            let field = "setGroupMaker(id: \"sub-\(name)\", groupMaker: \(may)) { groupMaker }"
            let answer = try await api.run("mutation { \(field) }", as: root)
            #expect(answer["data"]?["setGroupMaker"]?["groupMaker"] == .bool(may), "\(answer)")
        }

        func make(_ name: String, as caller: Identity) async throws -> JSONValue {
            try await api.run(
                "mutation($n: String!) { createGroup(name: $n) { id } }",
                ["n": .string(name)],
                as: caller
            )
        }

        /// Makes a group and answers its id.
        func made(_ name: String, as caller: Identity) async throws -> String {
            let answer = try await make(name, as: caller)
            return try #require(answer["data"]?["createGroup"]?["id"]?.stringValue, "\(answer)")
        }

        func change(_ field: String, _ group: String, _ user: String, as caller: Identity) async throws -> JSONValue {
            let field = "\(field)(groupId: \"\(group)\", user: \"\(user)\") { name members { items { name } } }"
            return try await api.run("mutation { \(field) }", as: caller)
        }
    }

    @Test("a maker makes groups, puts people in, takes them out, and deletes the group")
    func ways() async throws {
        let scene = try await Scene()
        let me = try await scene.api.run("{ me { admin groupMaker } }", as: scene.ann)
        #expect(me["data"]?["me"] == ["admin": false, "groupMaker": true], "\(me)")
        let group = try await scene.made("team", as: scene.ann)
        let added = try await scene.change("addGroupMember", group, "bob", as: scene.ann)
        #expect(added["data"]?["addGroupMember"]?["members"]?["items"] == [["name": "bob"]], "\(added)")
        let seen = try await scene.api.run(
            "{ groups { items { name maker } } group(name: \"team\") { id } }",
            as: scene.ann
        )
        #expect(seen["data"]?["groups"]?["items"] == [["name": "team", "maker": "sub-ann"]], "\(seen)")
        #expect(seen["data"]?["group"]?["id"] == .string(group))
        let removed = try await scene.change("removeGroupMember", group, "bob", as: scene.ann)
        #expect(removed["data"]?["removeGroupMember"]?["members"]?["items"] == [], "\(removed)")
        let gone = try await scene.api.run("mutation { deleteGroup(id: \"\(group)\") { name } }", as: scene.ann)
        #expect(gone["data"]?["deleteGroup"]?["name"] == "team", "\(gone)")
        let page = try await scene.api.run("{ auditEvents { items { actor action subject } } }", as: Self.root)
        let rows = (page["data"]?["auditEvents"]?["items"]?.arrayValue ?? []).map { row -> String in
            let words = ["actor", "action", "subject"].map { row[$0]?.stringValue ?? "" }
            return words.joined(separator: " ")
        }
        for row in [
            "sub-root user.groupMaker sub-ann", "sub-ann group.create team", "sub-ann group.add team",
            "sub-ann group.remove team", "sub-ann group.delete team",
        ] {
            #expect(rows.contains(row), "\(row): \(rows)")
        }
    }

    @Test("a group of somebody else is answered as one that is not there")
    func foreign() async throws {
        let scene = try await Scene()
        let (anns, roots) = (try await scene.made("team", as: scene.ann), try await scene.made("crew", as: Self.root))
        func answers(_ id: String, _ name: String) async throws -> [String] {
            var answers: [String] = []
            for document in [
                "{ group(id: \"\(id)\") { name members { items { name } } } }", "{ group(name: \"\(name)\") { id } }",
                "mutation { deleteGroup(id: \"\(id)\") { name } }",
                "mutation { addGroupMember(groupId: \"\(id)\", user: \"eve\") { name } }",
                "mutation { removeGroupMember(groupId: \"\(id)\", user: \"bob\") { name } }",
            ] {
                let answer = try await scene.api.run(document, as: scene.eve)
                answers.append(answer.serializedString().replacing(id, with: "ID"))
            }
            return answers
        }
        let absent = try await answers("none", "nothing")
        #expect(try await answers(anns, "team") == absent)
        #expect(try await answers(roots, "crew") == absent)
        let listed = try await scene.api.run("{ groups { items { name } } }", as: scene.eve)
        #expect(listed["data"]?["groups"]?["items"] == [], "\(listed)")
        // An administrator has all of them.
        let all = try await scene.api.run("{ groups { items { name } } }", as: Self.root)
        #expect(all["data"]?["groups"]?["items"] == [["name": "crew"], ["name": "team"]], "\(all)")
    }

    @Test("a name that is taken, or that a rule, a setting or a grant names, is refused in the same words")
    func keptNames() async throws {
        let scene = try await Scene(model: Self.model(readers: "groups: [\"ops\", \"\(Self.cafe)\"]"))
        scene.api.environment.settingsGroups.replace(with: ["staff"])
        _ = try await scene.made("crew", as: Self.root)
        try await scene.api.makeTopics(1, sharedWith: "awaited")
        let answers = try await ["ops", Self.cafe, "staff", "crew", "awaited"].asyncMap { name in
            try await scene.make(name, as: scene.ann).serializedString().replacing(name, with: "NAME")
        }
        #expect(Set(answers).count == 1, "\(answers)")
        #expect(answers.first?.contains("is taken, or kept for administrators") == true, "\(answers)")
        #expect(try await scene.make("ops", as: scene.ann).code == "BAD_USER_INPUT")
        let own = try await scene.made("own", as: scene.ann)
        #expect(try await scene.make("own", as: scene.ann).words == "There is a group own already.")
        // What a setting names from now on is changed by administrators alone.
        scene.api.environment.settingsGroups.replace(with: ["own"])
        let late = try await scene.change("addGroupMember", own, "ann", as: scene.ann)
        #expect(late.code == "CONFLICT", "\(late)")
        #expect(try await scene.change("addGroupMember", own, "bob", as: Self.root).code == nil)
    }

    @Test("operators are told of groups that a rule or setting names, and whose makers are no administrators")
    func keptLater() async throws {
        let scene = try await Scene(model: Self.model(readers: "groups: [\"ops\", \"free\"]"))
        let groups = scene.api.services.groups
        func told(limit: Int = 20) async throws -> [String] {
            try await groups.keptGroupsOfMakers(limit: limit).map { "\($0.group.name) of \($0.maker.name)" }
        }
        _ = try await groups.add(name: "free", description: nil, by: .shell)
        for (name, maker) in [("late", scene.ann), ("other", scene.ann), ("eves", scene.eve), ("crew", Self.root)] {
            _ = try await scene.made(name, as: maker)
        }
        #expect(try await told() == [])
        // As it was before the rule was written.
        let ops = Group(
            id: GroupID("group-ops"),
            name: "ops",
            description: nil,
            createdBy: scene.ann.userID,
            createdAt: scene.api.time.now()
        )
        try await scene.api.store.write { writer throws(StoreError) in try writer.save(ops) }
        scene.api.environment.settingsGroups.replace(with: ["late", "eves", "crew", "none"])
        #expect(try await told() == ["eves of eve", "late of ann", "ops of ann"])
        #expect(try await told(limit: 2) == ["eves of eve", "late of ann"])
        let raised = try await scene.api.run(
            "mutation { setAdmin(id: \"sub-eve\", admin: true) { admin } }",
            as: Self.root
        )
        #expect(raised.code == nil, "\(raised)")
        #expect(try await told() == ["late of ann", "ops of ann"])
    }

    @Test("a name in another spelling of its letters is another group: a rule gives it nothing, and it manages nothing")
    func spellings() async throws {
        let scene = try await Scene(model: Self.model(readers: "groups: [\"\(Self.cafe)\"]"))
        let topic = try await scene.api.makeTopic()
        _ = try await scene.made(Self.cafe, as: Self.root)
        _ = try await scene.made(Self.otherCafe, as: scene.ann)
        _ = try await scene.api.services.people.addService(name: "robot", managedBy: "group:" + Self.cafe, by: .shell)
        func seen(memberOf group: String) async throws -> JSONValue? {
            let caller = SharingScene.member("ann", of: group)
            let document = "{ getTopic(id: \"\(topic)\") { id } user(name: \"robot\") { name } }"
            return try await scene.api.run(document, as: caller)["data"]
        }
        #expect(try await seen(memberOf: Self.cafe) == ["getTopic": ["id": .string(topic)], "user": ["name": "robot"]])
        #expect(try await seen(memberOf: Self.otherCafe) == ["getTopic": nil, "user": nil])
    }

    @Test("where not all names that give something are known, only administrators make groups")
    func unknownNames() async throws {
        let scene = try await Scene(model: Self.model(readers: "groupsField: \"team\""))
        let refused = try await scene.make("team", as: scene.ann)
        #expect(refused.code == "CONFLICT" && refused.words.contains("groupsField"), "\(refused)")
        _ = try await scene.made("team", as: Self.root)
        // The same where groups of a sign-in provider are local ones.
        let plain = try await Scene()
        var environment = plain.api.environment
        environment.claimedGroups.areMerged = true
        let (services, schema) = (plain.api.services, plain.api.schema)
        let groups = GroupService(environment: environment, sharing: services.sharing, models: schema.models)
        await #expect {
            _ = try await groups.add(name: "team", description: nil, by: .caller(plain.ann))
        } throws: { error in
            guard case ServiceError.conflicting(let words) = error else { return false }
            return words.contains("TOCSIN_GROUPS_MERGE")
        }
    }

    @Test("a maker has so many groups, and puts one person into so many of them")
    func bounds() async throws {
        var limits = ServiceLimits()
        (limits.groupsPerMaker, limits.groupsPerMakerAndUser) = (2, 1)
        let scene = try await Scene(limits: limits)
        let (first, second) = (try await scene.made("a", as: scene.ann), try await scene.made("b", as: scene.ann))
        let third = try await scene.make("c", as: scene.ann)
        #expect(third.code == "LIMIT" && third.words.contains("Delete one"), "\(third)")
        #expect(try await scene.change("addGroupMember", first, "bob", as: scene.ann).code == nil)
        let more = try await scene.change("addGroupMember", second, "bob", as: scene.ann)
        #expect(more.code == "LIMIT" && more.words.contains("Take them out of one"), "\(more)")
        #expect(try await scene.change("addGroupMember", first, "bob", as: scene.ann).code == nil, "a repeat")
        // Others are not in the way, and administrators are not bound.
        let eves = try await scene.made("e", as: scene.eve)
        #expect(try await scene.change("addGroupMember", eves, "bob", as: scene.eve).code == nil)
        #expect(try await scene.change("addGroupMember", second, "bob", as: Self.root).code == nil)
        for name in ["x", "y", "z"] { _ = try await scene.made(name, as: Self.root) }
    }

    @Test("a maker names thirty users a minute, whether they are there or not")
    func namings() async throws {
        let scene = try await Scene()
        let group = try await scene.made("team", as: scene.ann)
        for number in 0..<30 {
            let field = number % 2 == 0 ? "addGroupMember" : "removeGroupMember"
            #expect(try await scene.change(field, group, "guess\(number)", as: scene.ann).code == "BAD_USER_INPUT")
        }
        let refused = try await scene.change("addGroupMember", group, "bob", as: scene.ann)
        #expect(refused.code == "LIMIT" && refused.words.contains("Wait a minute"), "\(refused)")
        // Who fills a group is not told to share with a group instead.
        #expect(!refused.words.contains("or share with a group"), "\(refused)")
        #expect(try await scene.change("addGroupMember", group, "bob", as: Self.root).code == nil)
        scene.api.time.advance(seconds: 61)
        #expect(try await scene.change("addGroupMember", group, "mary", as: scene.ann).code == nil)
    }

    @Test("a right that is taken back ends at once, and the groups stay for administrators")
    func takenBack() async throws {
        let scene = try await Scene()
        let group = try await scene.made("team", as: scene.ann)
        try await scene.setMaker("ann", false)
        // Also for who came in with the right a moment before.
        for caller in [scene.ann, APIHarness.identity("ann")] {
            #expect(try await scene.make("other", as: caller).code == "UNAUTHORIZED")
            #expect(try await scene.change("addGroupMember", group, "bob", as: caller).code == "UNAUTHORIZED")
        }
        let left = try await scene.api.run("{ group(name: \"team\") { id } }", as: APIHarness.identity("ann"))
        #expect(left["data"] == ["group": nil], "\(left)")
        #expect(try await scene.change("addGroupMember", group, "bob", as: Self.root).code == nil)
        try await scene.setMaker("ann", true)
        #expect(try await scene.change("removeGroupMember", group, "bob", as: scene.ann).code == nil)
    }

    @Test("of members a maker sees who they are and which of the maker's groups they are in, no more")
    func members() async throws {
        let scene = try await Scene()
        let (anns, roots) = (try await scene.made("team", as: scene.ann), try await scene.made("crew", as: Self.root))
        for user in ["bob", "ann"] {
            for group in [anns, roots] {
                #expect(try await scene.change("addGroupMember", group, user, as: Self.root).code == nil)
            }
        }
        for field in [
            "setAdmin(id: \"sub-bob\", admin: true) { id }", "setGroupMaker(id: \"sub-bob\", groupMaker: true) { id }",
        ] {
            #expect(try await scene.api.run("mutation { \(field) }", as: Self.root).code == nil)
        }
        let document =
            "{ group(name: \"team\") { members { items { name admin groupMaker groups sessions { id } } } } }"
        let seen = try await scene.api.run(document, as: scene.ann)["data"]?["group"]?["members"]?["items"]
        let bob: JSONValue = ["name": "bob", "admin": false, "groupMaker": false, "groups": ["team"], "sessions": nil]
        #expect(seen?[1] == bob, "\(seen ?? .null)")
        #expect(seen?[0]?["name"] == "ann" && seen?[0]?["groupMaker"] == true, "\(seen ?? .null)")
        #expect(seen?[0]?["groups"] == ["crew", "team"], "\(seen ?? .null)")
    }

    @Test("the right is given by administrators, to people alone")
    func giving() async throws {
        let scene = try await Scene()
        let robot = try await scene.api.services.people.addService(name: "robot", managedBy: "ann", by: .shell)
        func give(_ id: String, as caller: Identity) async throws -> JSONValue {
            try await scene.api.run("mutation { setGroupMaker(id: \"\(id)\", groupMaker: true) { id } }", as: caller)
        }
        for caller in [scene.ann, Scene.mary] {
            #expect(try await give("sub-mary", as: caller).code == "UNAUTHORIZED")
        }
        #expect(try await give("none", as: Self.root).code == "BAD_USER_INPUT")
        let refused = try await give(robot.id.text, as: Self.root)
        #expect(refused.code == "BAD_USER_INPUT" && refused.words.contains("service account"), "\(refused)")
        // A token that may only read changes nothing, and looks.
        var reader = scene.ann
        reader.scope = .readOnly
        #expect(try await scene.make("team", as: reader).code == "UNAUTHORIZED")
        #expect(try await scene.api.run("{ groups { items { name } } }", as: reader).code == nil)
    }
}

extension Sequence {
    /// The elements transformed, one after the other.
    fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async throws -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
