import Foundation
import JSON
import TestDatabases
import Testing
import TocsinClient

@Suite("People and groups of the built server", .timeLimit(.minutes(5)))
struct PeopleTests {
    /// The model file with topics and messages that a group may read.
    @discardableResult
    static func schema(in folder: String, readers: String = "ops") throws -> String {
        let rule = "{ allow: groups, groups: [\"\(readers)\"], operations: [read] }"
        let text = """
            type Topic @model @auth(rules: [{ allow: owner }, \(rule)]) {
              id: ID!
              name: String! @index(name: "byName", queryField: "getTopicByName")
              arn: String!
            }
            type Message @model @auth(rules: [{ allow: owner, operations: [create, read] }, \(rule)]) {
              id: ID!
              type: Int!
              title: String!
              body: String!
              createdAt: AWSDateTime!
              topicId: ID! @index(name: "byTopicIdAndCreatedAt", sortKeyFields: ["createdAt"],
                queryField: "getMessageByTopicIdAndCreatedAt")
              topic: Topic @hasOne(fields: ["topicId"])
            }
            """
        let path = folder + "/ops.graphql"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private static func names(_ token: String, _ installation: Installation) async throws -> [String] {
        let answer = try await installation.curl("{ listTopics { items { name } } }", token: token)
        return answer["data"]?["listTopics"]?["items"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
    }

    @Test("an admin of the shell's makes people and groups; membership counts at the next request and ends sockets")
    func walk() async throws {
        try await Installation.run { installation in
            installation.options += ["--schema", try Self.schema(in: installation.folder)]
        } _: { installation in
            try await installation.administer(["user", "add", "root", "--admin"])
            let root = try await installation.makeToken(user: "root")
            let (ada, bob) = (try await installation.addUser("ada"), try await installation.addUser("bob"))
            let topicID = try await installation.makeClient(token: ada).makeTopic(named: "alerts")
            #expect(try await Self.names(bob, installation).isEmpty)

            let made = try await installation.curl("mutation { createGroup(name: \"ops\") { id } }", token: root)
            let group = try #require(made["data"]?["createGroup"]?["id"]?.stringValue, "\(made)")
            let add = "mutation { addGroupMember(groupId: \"\(group)\", user: \"bob\") { members { items { name } } } }"
            let added = try await installation.curl(add, token: root)
            #expect(added["data"]?["addGroupMember"]?["members"]?["items"] == [["name": "bob"]], "\(added)")
            #expect(try await Self.names(bob, installation) == ["alerts"])
            let me = try await installation.curl("{ me { groups admin } }", token: bob)
            #expect(me["data"]?["me"] == ["groups": ["ops"], "admin": false], "\(me)")

            let socket = try await RawSocket(installation, token: bob)
            try await socket.subscribe("subscription { onCreateMessage(topicId: \"\(topicID)\") { title } }")
            // Beside the server, as an operator does it.
            let output = try await installation.administer(["group", "remove", "ops", "bob"])
            #expect(output.contains("Removed bob from group ops."), "\(output)")
            #expect(try await socket.untilClosed() == 1001)
            try await eventually("the topic is absent again") {
                try await Self.names(bob, installation).isEmpty
            }
            try await eventually("it is noted that bob was here") {
                try await installation.administer(["user", "list", "--json"]).contains("lastSeenAt")
            }
        }
    }

    @Test("whom a command lets make groups makes and fills one over GraphQL, until that is taken back")
    func makers() async throws {
        try await Installation.run { installation in
            installation.options += ["--schema", try Self.schema(in: installation.folder)]
        } _: { installation in
            let (ada, _) = (try await installation.addUser("ada"), try await installation.addUser("bob"))
            func make(_ name: String) async throws -> JSONValue {
                try await installation.curl("mutation { createGroup(name: \"\(name)\") { id maker } }", token: ada)
            }
            func code(_ answer: JSONValue) -> JSONValue? { answer["errors"]?[0]?["extensions"]?["code"] }
            #expect(code(try await make("crew")) == "UNAUTHORIZED")
            let given = try await installation.administer(["user", "group-maker", "ada"])
            #expect(given == "User ada may make groups.\n", "\(given)")
            #expect(try await installation.administer(["user", "list"]).contains("ada\tactive\tgroup maker\n"))
            try await eventually("ada may make groups") {
                try await installation.curl("{ me { groupMaker } }", token: ada)["data"]?["me"]?["groupMaker"] == true
            }
            let made = try await make("crew")
            let group = try #require(made["data"]?["createGroup"]?["id"]?.stringValue, "\(made)")
            let add = "mutation { addGroupMember(groupId: \"\(group)\", user: \"bob\") { members { items { name } } } }"
            let added = try await installation.curl(add, token: ada)
            #expect(added["data"]?["addGroupMember"]?["members"]?["items"] == [["name": "bob"]], "\(added)")
            // The schema's rules let this one read all topics.
            #expect(code(try await make("ops")) == "BAD_USER_INPUT")
            #expect(try await installation.administer(["group", "list", "--json"]).contains(#""maker":""#))
            let taken = try await installation.administer(["user", "group-maker", "ada", "--off"])
            #expect(taken == "User ada makes no groups.\n", "\(taken)")
            try await eventually("ada may not add to the group") {
                code(try await installation.curl(add, token: ada)) == "UNAUTHORIZED"
            }
            #expect(try await installation.administer(["group", "show", "crew"]) == "Made by ada.\nbob\tactive\n")
            #expect(try await installation.administer(["group", "list"]) == "crew\t\tada\n")
        }
    }

    @Test("the log warns of a maker's group that a rule names later, at the start and after a reload")
    func keptLater() async throws {
        try await Installation.run { installation in
            installation.options += ["--schema", try Self.schema(in: installation.folder, readers: "others")]
        } _: { installation in
            let ada = try await installation.addUser("ada")
            try await installation.administer(["user", "group-maker", "ada"])
            try await eventually("ada makes a group") {
                let made = try await installation.curl("mutation { createGroup(name: \"ops\") { id } }", token: ada)
                return made["data"]?["createGroup"]?["id"]?.stringValue != nil
            }
            try Self.schema(in: installation.folder)
            try await installation.restartServer()
            let warnings = { installation.logLines.filter { $0["event"] == "kept_group_of_maker" } }
            try await eventually("the start has warned") { warnings().count == 1 }
            let warning = try #require(warnings().first)
            #expect(warning["level"] == "warning" && warning["group"] == "ops" && warning["maker"] == "ada")
            #expect(warning["message"]?.stringValue?.contains("`tocsin group show NAME`, or delete it") == true)
            try await ReloadSite(installation).hangUp(until: ReloadSite.applied)
            try await eventually("the reload has warned") { warnings().count == 2 }
        }
    }

    @Test("commands say what is wrong in words")
    func commands() async throws {
        try await Installation.run { installation in
            try await installation.administer(["group", "create", "ops", "--description", "on call"])
            let list = try await installation.administer(["group", "list"])
            #expect(list == "ops\ton call\n", "\(list)")
            for (arguments, expected) in [
                (["group", "create", "ops"], "There is a group ops already."),
                (["group", "add", "ops", "nobody"], "There is no local user nobody."),
                (["group", "show", "none"], "There is no group none."),
                (["user", "admin", "nobody"], "There is no user nobody."),
                (["user", "add", "robot", "--service"], "--service and --managed-by are given together."),
            ] {
                let answer = try await installation.attempt(arguments)
                #expect(answer.status != 0 && answer.errors.contains(expected), "\(answer)")
            }
            try await installation.administer(["user", "add", "robot", "--service", "--managed-by", "ops"])
            #expect(try await installation.administer(["user", "list"]) == "robot\tactive\tservice account\n")
            let refused = try await installation.attempt(["user", "password", "robot", "--generate"])
            #expect(refused.status == 1 && refused.errors.contains("has tokens and no password"), "\(refused)")
            try await installation.administer(["user", "add", "eve"])
            let password = try await installation.administer(["user", "password", "eve", "--generate"])
            #expect(password.count == 21, "\(password)")
        }
    }
}

@Suite("Groups on two nodes", .enabled(if: PostgresServer.named != nil), .timeLimit(.minutes(5)))
struct NodeGroupTests {
    @Test("a membership that ends on one node ends sockets on both and their requests within a second")
    func ends() async throws {
        let folder = NSTemporaryDirectory() + "tocsin-groups-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let schema = try PeopleTests.schema(in: folder)
        try await Cluster.run(2, environment: ["TOCSIN_SCHEMA": schema]) { cluster in
            try await cluster.administer(["user", "add", "root", "--admin"])
            let root = try await cluster.administer(["token", "create", "--user", "root"])
                .trimmingCharacters(in: .whitespacesAndNewlines)
            let (ada, bob) = (try await cluster.addUser("ada"), try await cluster.addUser("bob"))
            let admin = try cluster.client(0, root)
            let owner = try cluster.client(0, ada)
            let topicID = try await owner.makeTopic(named: "alerts")
            let made = try await admin.mutate("mutation { createGroup(name: \"ops\") { id } }", variables: [:])
            let group = try #require(made["createGroup"]?["id"]?.stringValue, "\(made)")
            let change = { (field: String) in
                "mutation { \(field)(groupId: \"\(group)\", user: \"bob\") { id } }"
            }
            _ = try await admin.mutate(change("addGroupMember"), variables: [:])
            var sockets: [RawSocket] = []
            for node in 0..<2 {
                let socket = try await RawSocket(port: cluster.port(node), token: bob)
                try await socket.subscribe("subscription { onCreateMessage(topicId: \"\(topicID)\") { title } }")
                sockets.append(socket)
            }
            let begin = ContinuousClock.now
            _ = try await admin.mutate(change("removeGroupMember"), variables: [:])
            for socket in sockets { #expect(try await socket.untilClosed() == 1001) }
            // A second, and what a busy machine takes to notice: the next look without a word of
            // the other node is ten seconds later.
            #expect(ContinuousClock.now - begin < .seconds(8))
            admin.close()
            owner.close()
        }
    }
}
