import Foundation
import GraphQLTransport
import JSON
import Synchronization

/// A topic "alerts" in memory that answers the client's documents, and can be told to misbehave.
final class FakeTopic: GraphQLService, Sendable {
    struct Stored: Sendable {
        var id: String
        var number: Int64
        var title: String
    }

    private struct State {
        var messages: [Stored] = []
        var sinks: [Int: any ResponseSink] = [:]
        var lastSink = 0
        var refusals = 0
        var creates = 0
        var tokens: Set<String> = [FakeTopic.goodToken]
        /// All that were shown, in order.
        var shown: [String] = []
        var refusedOnce: Set<String> = []
        var revocationAfter: Int?
        var renewals = 0
        var sessions = 0
        var sessionEnd: @Sendable () -> Date = { .distantFuture }
    }

    private let state = Mutex(State())
    static let goodToken = "good-token"

    var stored: [Stored] { state.withLock { $0.messages } }
    var subscriberCount: Int { state.withLock { $0.sinks.count } }
    /// Credentials that were shown, one for each request, socket and renewal.
    var shown: [String] { state.withLock { $0.shown } }
    /// How often a stream went on by a newer token.
    var renewals: Int { state.withLock { $0.renewals } }
    /// How often createMessage was asked for.
    var creates: Int { state.withLock { $0.creates } }

    /// Stores a message and, unless told not to, sends it to the subscribers.
    @discardableResult
    func store(_ title: String, id: String? = nil, sends: Bool = true) -> Stored {
        let (message, sinks) = state.withLock { state in
            let number = Int64(state.messages.count + 1)
            let message = Stored(id: id ?? "message-\(number)", number: number, title: title)
            state.messages.append(message)
            return (message, state.sinks.values.map { $0 })
        }
        if sends { for sink in sinks { sink.next(Self.event(message)) } }
        return message
    }

    /// Sends a stored message once more.
    func sendAgain(_ number: Int) {
        let (message, sinks) = state.withLock { ($0.messages[number - 1], $0.sinks.values.map { $0 }) }
        for sink in sinks { sink.next(Self.event(message)) }
    }

    /// Ends all subscriptions.
    func endAll(_ reason: StreamEnd) {
        for sink in state.withLock({ $0.sinks.values.map { $0 } }) { sink.end(reason) }
    }

    /// From now on these tokens alone are good.
    func accept(_ tokens: String...) { state.withLock { $0.tokens = Set(tokens) } }

    /// Signs everybody in; a session's tokens are `session-1`, `session-2` and so on, and the last
    /// two are good.
    func signIn(until end: @escaping @Sendable () -> Date) {
        accept("")
        state.withLock { $0.sessionEnd = end }
    }

    /// Does not take this token when it is shown next.
    func refuseOnce(_ token: String) { state.withLock { _ = $0.refusedOnce.insert(token) } }

    /// The next replay breaks off after so many messages, because the token is revoked.
    func revokeInReplay(after count: Int) { state.withLock { $0.revocationAfter = count } }

    /// Answers the next creates with 503, after having stored their messages.
    func refuseNextCreates(_ count: Int) { state.withLock { $0.refusals = count } }

    func authenticate(_ credentials: Credentials) async -> AuthenticationOutcome<String> {
        let text = credentials.authorization ?? credentials.apiKey ?? ""
        let isGood = state.withLock { state in
            state.shown.append(text)
            return state.tokens.contains(text) && state.refusedOnce.remove(text) == nil
        }
        guard isGood else { return .refused(message: "The token is not valid.") }
        return .caller("ada")
    }

    func isSameUser(_ caller: String, as other: String) -> Bool { caller == other }

    func renew(_ stream: any StreamHandle, caller: String) { state.withLock { $0.renewals += 1 } }

    var welcome: JSONObject { ["features": ["replayedPing"], "reconnectSpreadMs": 20] }

    func expiry(of caller: String) -> Int64? { nil }

    func operation(of request: GraphQLRequest, caller: String, style: ResponseStyle) -> OperationLookup {
        if request.query.hasPrefix("subscription") { return .subscription }
        let run: OperationLookup.Run = { await self.execute(request, caller: caller, style: style) }
        return request.query.hasPrefix("mutation") ? .mutation(run) : .query(run)
    }

    func execute(_ request: GraphQLRequest, caller: String, style: ResponseStyle) async -> GraphQLReply {
        let query = request.query
        if query.contains("Publish(") { return create(request.variables["input"]) }
        let data: JSONValue =
            if query.contains("SignOut") {
                ["signOut": true]
            } else if query.contains("SignIn(") {
                ["signIn": session()]
            } else if query.contains("RefreshSession") {
                ["refreshSession": session()]
            } else if query.contains("TopicByName(") {
                named(request.variables["name"]?.stringValue)
            } else if query.contains("Stand(") {
                stand
            } else if query.contains("StandOfAll") {
                ["me": ["cursor": .string(Self.cursor(Int64(stored.count)))]]
            } else {
                ["getTopic": nil]
            }
        return GraphQLReply(kind: .executed, body: JSONValue.object(["data": data]).serialized())
    }

    func subscribe(
        _ request: GraphQLRequest,
        caller: String,
        options: SubscribeOptions,
        sink: any ResponseSink
    ) async -> SubscribeOutcome {
        let after = request.variables["after"]?.stringValue
        guard after == nil || after.flatMap(Self.number) != nil else {
            return .refused(errors: Self.error("BAD_CURSOR", "This cursor was changed."))
        }
        let (key, missed) = state.withLock { state in
            state.lastSink += 1
            state.sinks[state.lastSink] = sink
            let last = after.flatMap(Self.number) ?? Int64.max
            return (state.lastSink, state.messages.filter { $0.number > last })
        }
        let revocation = state.withLock { state in
            defer { state.revocationAfter = nil }
            return state.revocationAfter
        }
        for message in missed.prefix(revocation ?? .max) { sink.next(Self.event(message)) }
        revocation == nil ? sink.caughtUp() : sink.end(.unauthorized)
        return .stream(Handle { [weak self] in self?.state.withLock { $0.sinks[key] = nil } })
    }

    private struct Handle: StreamHandle {
        let end: @Sendable () -> Void
        func cancel() { end() }
    }
}

extension FakeTopic {
    static func cursor(_ number: Int64) -> String { "cursor-\(number)" }

    private static func number(_ cursor: String) -> Int64? {
        if cursor.isEmpty { return 0 }
        return cursor.hasPrefix("cursor-") ? Int64(cursor.dropFirst("cursor-".count)) : nil
    }

    private static func event(_ message: Stored) -> SharedResponse {
        SharedResponse(body: JSONValue.object(["data": ["onCreateMessage": object(message)]]).serialized())
    }

    private static func object(_ message: Stored) -> JSONValue {
        [
            "id": .string(message.id), "number": .int(message.number), "cursor": .string(cursor(message.number)),
            "type": 0, "title": .string(message.title), "body": "", "createdAt": "2026-01-02T03:04:05.678Z",
            "priority": 3,
            "url": nil, "data": "{\"host\":\"web-1\"}", "category": nil, "topicId": "t1",
        ]
    }

    static func error(_ code: String, _ message: String) -> [UInt8] {
        let error: JSONValue = ["message": .string(message), "extensions": ["code": .string(code)]]
        return JSONValue.array([error]).serialized()
    }

    private func named(_ name: String?) -> JSONValue {
        ["getTopicByName": ["items": .array(name == "alerts" ? [["id": "t0", "_deleted": true], ["id": "t1"]] : [])]]
    }

    private var stand: JSONValue {
        let last = Int64(stored.count)
        return ["getTopic": ["cursor": .string(Self.cursor(last)), "lastNumber": .int(last)]]
    }

    private func session() -> JSONValue {
        let (number, end) = state.withLock { state in
            state.sessions += 1
            state.tokens = ["", "session-\(state.sessions - 1)", "session-\(state.sessions)"]
            return (state.sessions, state.sessionEnd())
        }
        let text = end.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        return [
            "token": .string("session-\(number)"), "sessionId": "s1", "expiresAt": .string(text), "userId": "u1",
            "username": "ada",
        ]
    }

    private func create(_ input: JSONValue?) -> GraphQLReply {
        let (id, title) = (input?["id"]?.stringValue ?? "", input?["title"]?.stringValue ?? "")
        let (known, isRefused) = state.withLock { state in
            state.creates += 1
            defer { state.refusals = max(0, state.refusals - 1) }
            return (state.messages.first { $0.id == id }, state.refusals > 0)
        }
        let message = known ?? store(title, id: id)
        guard !isRefused else {
            let errors = String(decoding: Self.error("UNAVAILABLE", "Try again."), as: UTF8.self)
            return GraphQLReply(kind: .unavailable, body: Array("{\"errors\":\(errors)}".utf8))
        }
        let data: JSONValue = ["createMessage": Self.object(message)]
        return GraphQLReply(kind: .executed, body: JSONValue.object(["data": data]).serialized())
    }
}
