import GraphQLTransport
import JSON
import Synchronization

/// A service whose answers follow from the first word of the query.
///
/// It says that requests were about the topic that their variables name.
///
/// Tokens: `good` is accepted, `newer` is the same user's and ends in an hour, `soon` in 200 ms,
/// `brief` at once, `other` is another user's, `gated` is looked up until the gates open, `known`
/// is accepted and then recognized until it is lost, `busy` cannot be judged, others are bad.
final class EchoService: GraphQLService {
    struct Caller: Sendable {
        let token: String
        var user: String { token == "other" ? token : "good" }
    }

    private struct State {
        var sinks: [Int: any ResponseSink] = [:]
        var lastSink = 0
        var rosters: [(any ResponseSender, [any ResponseSink])] = []
        var hasChanged = true
        var gates: [CheckedContinuation<Void, Never>] = []
        var areGatesOpen = false
        var lost: Set<String> = []
        var authentications = 0
        var executions = 0
    }

    /// What happened inside, for tests to wait for.
    enum Happening: Sendable, Equatable {
        case hanging
        case cancelled
        case subscribed
        case unsubscribed
        case renewed(String)
        case gateReached
    }

    private let state = Mutex(State())
    private let report: AsyncStream<Happening>.Continuation
    let happenings: AsyncStream<Happening>

    init() { (happenings, report) = AsyncStream.makeStream() }

    func authenticate(_ credentials: Credentials) async -> AuthenticationOutcome<Caller> {
        switch credentials.authorization ?? credentials.apiKey {
        case "known" where state.withLock { !$0.lost.contains("known") }:
            state.withLock { $0.authentications += 1 }
            return .caller(Caller(token: "known"))
        case "good", "newer", "soon", "brief", "other":
            return .caller(Caller(token: credentials.authorization ?? "good"))
        case "gated":
            await gate()
            return .caller(Caller(token: "good"))
        case "busy": return .unavailable(message: "The keys cannot be fetched.")
        case nil: return .refused(message: "Valid authorization header not provided.")
        default: return .refused(message: "You are not authorized to make this call.")
        }
    }

    func fingerprint(of credentials: Credentials) -> [UInt8] { Array((credentials.authorization ?? "").utf8) }

    func recognize(_ fingerprint: [UInt8], from remoteAddress: String?) -> Caller? {
        guard fingerprint == Array("known".utf8) else { return nil }
        return state.withLock { $0.authentications > 0 && !$0.lost.contains("known") ? Caller(token: "known") : nil }
    }

    func expiry(of caller: Caller) -> Int64? {
        switch caller.token {
        case "brief": 1
        case "soon": TestServer.time + 200
        case "newer": TestServer.time + 3_600_000
        default: nil
        }
    }

    func hasLostAccess(_ caller: Caller) -> Bool { state.withLock { $0.lost.contains(caller.token) } }

    /// How many queries were run.
    var executions: Int { state.withLock { $0.executions } }

    /// How often the token `known` was authenticated.
    var authentications: Int { state.withLock { $0.authentications } }

    /// Takes a token's access.
    func lose(_ token: String) { state.withLock { _ = $0.lost.insert(token) } }

    func socketGroup(of caller: Caller) -> String? { caller.user }

    func isSameUser(_ caller: Caller, as other: Caller) -> Bool { caller.user == other.user }

    func renew(_ stream: any StreamHandle, caller: Caller) { report.yield(.renewed(caller.token)) }

    func operation(of request: GraphQLRequest, caller: Caller, style: ResponseStyle) -> OperationLookup {
        let run: OperationLookup.Run = { await self.execute(request, caller: caller, style: style) }
        switch request.query.split(separator: " ").first {
        case "mutation": return .mutation(run)
        case "subscription": return .subscription
        case "bad": return .invalid(Self.requestError)
        default: return .query(run)
        }
    }

    func execute(_ request: GraphQLRequest, caller: Caller, style: ResponseStyle) async -> GraphQLReply {
        state.withLock { $0.executions += 1 }
        switch request.query {
        case "large": return GraphQLReply(kind: .executed, body: Self.large)
        case "often": return GraphQLReply(kind: .tooManyRequests(retryAfterSeconds: 7), body: Self.requestError.body)
        case "hang":
            report.yield(.hanging)
            await Self.untilCancelled()
            report.yield(.cancelled)
        case "gate": await gate()
        default: break
        }
        let body: JSONValue = ["data": ["echo": .string(request.query), "variables": .object(request.variables)]]
        var reply = GraphQLReply(kind: .executed, body: body.serialized())
        reply.subjects["topic"] = request.variables["topic"]?.stringValue
        return reply
    }

    func subscribe(
        _ request: GraphQLRequest,
        caller: Caller,
        options: SubscribeOptions,
        sink: any ResponseSink
    ) async -> SubscribeOutcome {
        switch request.query {
        case "subscription refused": return .refused(errors: Array(#"[{"message":"no"}]"#.utf8))
        case "subscription three":
            for number in 1...3 { sink.next(SharedResponse(body: Array("{\"data\":\(number)}".utf8))) }
            sink.end(.completed)
        case "subscription cursors":
            for number in 1...2 {
                sink.next(SharedResponse(body: Array("{\"data\":\(number)}".utf8), cursor: "c\(number)"))
            }
            sink.end(.completed)
        case "subscription from": sink.next(SharedResponse(body: Array("\"\(options.resumeAfter ?? "-")\"".utf8)))
        case "subscription gate": await gate()
        case "subscription replay":
            // As a service would that reads pages of stored messages.
            for _ in 0..<10 {
                _ = await sink.turn {
                    for _ in 0..<4 {
                        await sink.room(for: SharedResponse(body: Self.page))
                        sink.next(SharedResponse(body: Self.page))
                    }
                    return true
                }
            }
            sink.end(.completed)
        case "subscription pages":
            // As one would that reads the next page only when the peer has taken the last one.
            for _ in 0..<10 {
                _ = await sink.turn {
                    await sink.room(for: SharedResponse(body: Self.page))
                    sink.next(SharedResponse(body: Self.page))
                    await sink.allTaken()
                    return true
                }
            }
            sink.end(.completed)
        case "subscription revoked": sink.end(.unauthorized)
        default: break
        }
        let number = state.withLock { state in
            state.lastSink += 1
            state.sinks[state.lastSink] = sink
            state.hasChanged = true
            return state.lastSink
        }
        report.yield(.subscribed)
        return .stream(Handle(service: self, number: number))
    }

    /// How many subscriptions run.
    var subscriberCount: Int { state.withLock { $0.sinks.count } }

    /// Hands the response to all subscribers.
    func publish(_ body: [UInt8], cursor: String? = nil) {
        let response = SharedResponse(body: body, cursor: cursor)
        for sink in state.withLock({ Array($0.sinks.values) }) { sink.next(response) }
    }

    /// Hands the responses to all subscribers by their senders.
    func publishTogether(_ bodies: [[UInt8]]) {
        let responses = bodies.map { SharedResponse(body: $0) }
        for (sender, sinks) in rosters { sender.send(responses, to: sinks, nil) }
    }

    /// Whether all senders have room; the first that has none will call.
    func hasRoom(orCall wake: @escaping @Sendable () -> Void) -> Bool {
        rosters.allSatisfy { sender, sinks in sender.hasRoom(for: sinks, orCall: wake) }
    }

    /// The subscribers by sender; the same lists until somebody comes or goes.
    private var rosters: [(any ResponseSender, [any ResponseSink])] {
        state.withLock { state in
            if !state.hasChanged { return state.rosters }
            let all = state.sinks.keys.sorted().compactMap { state.sinks[$0] }
            let bySender = Dictionary(grouping: all) { $0.sender.map { ObjectIdentifier($0) } }
            state.rosters = bySender.values.compactMap { sinks in sinks.first?.sender.map { ($0, sinks) } }
            state.hasChanged = false
            return state.rosters
        }
    }

    /// Ends all subscriptions.
    func endAll(_ reason: StreamEnd) {
        for sink in state.withLock({ Array($0.sinks.values) }) { sink.end(reason) }
    }

    /// Lets everybody through who waits at the gate, now and later.
    func openGates() {
        let gates = state.withLock { state in
            state.areGatesOpen = true
            defer { state.gates = [] }
            return state.gates
        }
        for gate in gates { gate.resume() }
    }

    /// Waits until this has happened.
    func wait(for wanted: Happening) async -> Bool {
        for await happening in happenings where happening == wanted { return true }
        return false
    }

    private func gate() async {
        report.yield(.gateReached)
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.areGatesOpen { state.gates.append(continuation) }
                return state.areGatesOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    private static func untilCancelled() async {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        await withTaskCancellationHandler {
            for await _ in stream {}
        } onCancel: {
            continuation.finish()
        }
    }

    private struct Handle: StreamHandle {
        let service: EchoService
        let number: Int

        func cancel() {
            let sink = service.state.withLock { state in
                state.hasChanged = true
                return state.sinks.removeValue(forKey: number)
            }
            guard sink != nil else { return }
            service.report.yield(.unsubscribed)
        }
    }

    static let requestError = GraphQLReply(kind: .requestError, body: Array(#"{"errors":[{"message":"bad"}]}"#.utf8))
    static let page = Array("{\"data\":\"\(String(repeating: "x", count: 100_000))\"}".utf8)
    static let large = Array("{\"data\":\"\(String(repeating: "x", count: 8_000_000))\"}".utf8)
}

/// Health that says it is well.
struct GoodHealth: HealthReporting {
    func live() -> HealthReport { HealthReport(status: .ok, body: Array(#"{"status":"ok"}"#.utf8)) }
    func ready() async -> HealthReport { live() }
}
