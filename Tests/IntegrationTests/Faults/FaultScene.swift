import Foundation
import JSON
import TestDatabases
import Testing
import TocsinClient
import TocsinPostgres
import TocsinStore

/// Nodes with publishers at work and a subscriber at each, to which something happens.
struct FaultScene {
    let cluster: Cluster
    let token: String
    let topicID: String
    let load: FaultLoad
    private static let publishers = 6

    /// What a scene is made of beside its database.
    struct Props {
        var environment: [String: String] = [:]
        /// Flags of the simulator.
        var simulator: [String] = []
        /// Every message must reach these.
        var phones: [String] = []
        /// Whether a subscriber may have seen what nobody was told is stored, and what is gone: it
        /// is told BAD_CURSOR then.
        var mayLoseSeen = false
    }

    /// Runs the fault in the middle of the work, then lets all go on and checks what was promised:
    /// what was answered is there once and unchanged, what was refused is not, and a repetition of
    /// what is unknown makes it one; numbers are dense, and subscribers saw all of it in order.
    ///
    /// - Parameters:
    ///   - server: Where the nodes' database is made, by the way that they reach it.
    ///   - direct: Where it is read in the end; the same server unless said otherwise.
    static func run(
        _ count: Int = 1,
        on server: PostgresServer,
        direct: (() -> PostgresServer)? = nil,
        props: Props = Props(),
        _ fault: (FaultScene) async throws -> Void
    ) async throws {
        // Publishers whose database is away must be told so, and try again.
        let environment = ["TOCSIN_EXECUTION_SECONDS": "5"].merging(props.environment) { $1 }
        try await Cluster.run(count, on: server, environment: environment, simulator: props.simulator) { cluster in
            let token = try await cluster.addUser("ada")
            for phone in props.phones { try await PushScene.register(phone, try cluster.client(0, token)) }
            let topicID = try await cluster.client(0, token).makeTopic(named: "calls")
            let followers = try (0..<count).map { Follower(try cluster.client($0, token), topicID: topicID) }
            for follower in followers { try await follower.untilLive() }
            let clients = try (0..<publishers).map { try cluster.impatientClient($0 % count, token) }
            let load = FaultLoad(clients, topicID: topicID)
            let scene = FaultScene(cluster: cluster, token: token, topicID: topicID, load: load)
            do {
                try await scene.untilAnswered(20)
                try await fault(scene)
                let start = ContinuousClock.now
                try await scene.untilReady()
                print("Ready again \(ContinuousClock.now - start) after the fault.")
                try await scene.untilAnswered(20)
            } catch {
                _ = await load.stop()
                throw HarnessFailure("\(error) Node 0 said: \(cluster.log(0).suffix(3000))")
            }
            let direct = direct?() ?? server
            let last = try await scene.expectTruth(direct)
            try await scene.expectFollowed(followers, last, mayLoseSeen: props.mayLoseSeen)
            for follower in followers { follower.stop() }
            if !props.phones.isEmpty { try await scene.expectDelivered(last * props.phones.count, direct) }
        }
    }

    /// Waits until so many more were answered.
    func untilAnswered(_ count: Int) async throws {
        let mark = load.answeredCount + count
        do {
            try await eventually("\(count) more messages are answered") { load.answeredCount >= mark }
        } catch {
            throw HarnessFailure("\(error) The last: \(load.sent.suffix(2).map(\.outcome)).")
        }
    }

    /// Waits until so many more were not answered.
    func untilRefused(_ count: Int) async throws {
        let mark = load.refusedCount + load.unknownCount + count
        try await eventually("\(count) more messages are refused") {
            load.refusedCount + load.unknownCount >= mark
        }
    }

    /// Waits until all nodes say that they are ready.
    func untilReady() async throws {
        for node in cluster.nodes.indices where cluster.isRunning(node) {
            try await eventually("node \(node) is ready") {
                let report = try? await cluster.report(node)
                return report?["status"] == "ok"
            }
        }
    }

    /// Waits until a node says in `/readyz` that the database is away and that it goes on trying.
    func untilAway(_ node: Int = 0) async throws {
        try await eventually("node \(node) says that the database is away") {
            let report = try await cluster.report(node)
            return report["status"] == "unavailable" && (report["connection"]?["failedAttempts"]?.intValue ?? 0) > 0
        }
    }
}

extension FaultScene {
    /// The name of the topic, read through a node.
    func readName() async throws -> JSONValue? {
        let query = "query($id: ID!) { getTopic(id: $id) { name } }"
        return try await cluster.client(0, token)
            .query(query, variables: ["id": .string(topicID)])["getTopic"]?["name"]
    }

    /// Waits until writes are refused as at a database that only reads, and checks that reads go on
    /// and that the node says so.
    func expectReadOnly() async throws {
        try await eventually("publishers are told that the database is read-only") {
            guard case .refused(let words)? = load.sent.last?.outcome else { return false }
            return words.contains("the database is read-only") && words.contains("UNAVAILABLE")
        }
        try await eventually("the node is ready and says that writes are refused") {
            let report = try await cluster.report(0)
            return report["status"] == "ok" && report["writes"]?["refused"] == "the database is read-only"
        }
        #expect(try await readName() == "calls")
    }
}

extension FaultScene {
    private struct Stored: Hashable {
        let number: Int64
        let title: String
        let body: String
    }

    /// What the topic holds, by id, and how many rows that are.
    private func stored(_ server: PostgresServer) throws -> (byID: [String: Stored], numbers: [Int64]) {
        let connection = try PostgresDatabase(url: server.url(of: cluster.database.name)).connect(.reader)
        defer { connection.close() }
        var byID: [String: Stored] = [:]
        var numbers: [Int64] = []
        let sql = "SELECT id, number, title, body FROM messages WHERE topic_id = $1 ORDER BY number"
        _ = try connection.run(sql, [.text(topicID)]) { row in
            byID[row.text(0)] = Stored(number: row.int(1), title: row.text(2), body: row.text(3))
            numbers.append(row.int(1))
        }
        return (byID, numbers)
    }

    /// Checks every outcome, repeats what was not answered, and gives the topic's last number.
    private func expectTruth(_ server: PostgresServer) async throws -> Int {
        let sent = await load.stop()
        print("\(load.answeredCount) answered, \(load.refusedCount) refused, \(load.unknownCount) unknown.")
        for (words, count) in load.failures.sorted(by: { $0.key < $1.key }) { print("\(count) times: \(words)") }
        let before = try stored(server)
        for message in sent {
            let row = before.byID[message.draft.id ?? ""]
            switch message.outcome {
            case .answered(let number):
                let expected = Stored(number: number, title: message.draft.title, body: message.draft.body)
                #expect(row == expected, "answered as \(number)")
            case .refused(let reason):
                #expect(row == nil, "refused (\(reason)), and stored")
            case .unknown(let reason):
                #expect(!reason.contains("INTERNAL"), "\(reason)")
            }
        }
        let client = try cluster.client(cluster.nodes.indices.first(where: cluster.isRunning) ?? 0, token)
        for message in sent {
            if case .answered = message.outcome { continue }
            let again = try await client.publish(topic: .id(topicID), message.draft)
            if let row = before.byID[message.draft.id ?? ""] {
                #expect(again.number == row.number, "a repetition made another")
            }
        }
        let after = try stored(server)
        #expect(after.numbers == Array(1...Int64(sent.count)), "numbers are not dense")
        #expect(Set(after.byID.keys) == Set(sent.compactMap(\.draft.id)))
        return sent.count
    }

    /// Waits until every message was accepted for every phone.
    private func expectDelivered(_ count: Int, _ server: PostgresServer) async throws {
        let connection = try PostgresDatabase(url: server.url(of: cluster.database.name)).connect(.reader)
        defer { connection.close() }
        var statuses: [String: Int] = [:]
        do {
            try await eventually("\(count) deliveries are accepted", withinSeconds: 240) {
                statuses = [:]
                _ = try connection.run("SELECT status, count(*) FROM deliveries GROUP BY status", []) { row in
                    statuses[row.text(0)] = Int(row.int(1))
                }
                return statuses == ["accepted": count]
            }
        } catch {
            throw HarnessFailure("\(error) They are \(statuses).")
        }
        let apns = try await cluster.simulator.get("/_stats")["apns"]
        let doubled = apns?["duplicates"]?["byDelivery"]?.intValue ?? 0
        #expect(apns?["accepted"]?.intValue == Int64(count) + doubled, "\(doubled) doubled")
    }

    private func expectFollowed(_ followers: [Follower], _ last: Int, mayLoseSeen: Bool) async throws {
        for follower in followers {
            try await eventually("\(last) messages are heard") {
                if mayLoseSeen, follower.failure?.code == .badCursor { return true }
                if let failure = follower.failure { throw failure }
                return follower.messages.count >= last
            }
            if follower.failure != nil { continue }
            #expect(follower.messages.map(\.number) == Array(1...Int64(last)))
        }
    }
}
