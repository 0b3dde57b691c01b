import Synchronization
import TocsinPush

/// Answers pushes by a script and keeps what was sent.
final class ScriptedTransport: PushTransport {
    /// One push as it left.
    struct Sent: Sendable {
        var batch: PushBatch
        var request: PushBatch.Request
        /// The token in an APNs path or an FCM body, or what follows `/p/`
        /// in a push service's path.
        var token: String

        func header(_ name: String) -> String? {
            (request.headers + batch.sharedHeaders).first { $0.name == name }?.value
        }

        var text: String { String(decoding: request.body, as: UTF8.self) }
    }

    /// The answer to a push, given how often its token was seen before; nil keeps it
    /// waiting until `release`.
    typealias Script = @Sendable (_ sent: Sent, _ earlier: Int) -> PushAnswer?

    private struct Held {
        var answer: @Sendable (PushAnswer) -> Void
    }

    private struct State {
        var sent: [Sent] = []
        var held: [Held] = []
        var closed: [PushPool] = []
    }

    private let state = Mutex(State())
    private let script: Mutex<Script>

    init(_ script: @escaping Script = { _, _ in .ok }) {
        self.script = Mutex(script)
    }

    var sent: [Sent] { state.withLock { $0.sent } }
    var closed: [PushPool] { state.withLock { $0.closed } }
    var heldCount: Int { state.withLock { $0.held.count } }

    func answer(_ script: @escaping Script) { self.script.withLock { $0 = script } }

    /// Answers all that wait.
    func release(_ answer: PushAnswer) {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for push in held { push.answer(answer) }
    }

    func close(_ pool: PushPool) async { state.withLock { $0.closed.append(pool) } }

    func send(_ batch: PushBatch, completed: @escaping @Sendable (Int, PushAnswer) -> Void) async {
        guard !batch.requests.isEmpty else { return }
        let script = script.withLock { $0 }
        let left = Mutexed(batch.requests.count)
        await withCheckedContinuation { continuation in
            let finish = { @Sendable (index: Int, answer: PushAnswer) in
                completed(index, answer)
                let isLast = left.value.withLock { left in
                    left -= 1
                    return left == 0
                }
                if isLast { continuation.resume() }
            }
            for (index, request) in batch.requests.enumerated() {
                let sent = Sent(batch: batch, request: request, token: Self.token(request))
                let earlier = state.withLock { state in
                    defer { state.sent.append(sent) }
                    return state.sent.count { $0.token == sent.token }
                }
                if let answer = script(sent, earlier) {
                    finish(index, answer)
                } else {
                    state.withLock { $0.held.append(Held { finish(index, $0) }) }
                }
            }
        }
    }

    private static func token(_ request: PushBatch.Request) -> String {
        if request.path.hasPrefix("/3/device/") { return String(request.path.dropFirst("/3/device/".count)) }
        if request.path.hasPrefix("/p/") { return String(request.path.dropFirst("/p/".count)) }
        let text = String(decoding: request.body, as: UTF8.self)
        return text.split(separator: "\"", maxSplits: 6, omittingEmptySubsequences: false).dropFirst(5).first.map(
            String.init
        ) ?? ""
    }
}

/// A `Mutex` that closures can share.
final class Mutexed<Value: Sendable>: Sendable {
    let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }
}

extension PushAnswer {
    static let ok = PushAnswer.response(
        PushResponse(status: 200, headers: [], body: Array("{\"name\":\"projects/p/messages/1\"}".utf8))
    )

    static func apns(_ status: Int, _ reason: String, timestamp: Int64? = nil, headers: [PushHeader] = []) -> PushAnswer
    {
        let moment = timestamp.map { ",\"timestamp\":\($0)" } ?? ""
        return .response(
            PushResponse(status: status, headers: headers, body: Array("{\"reason\":\"\(reason)\"\(moment)}".utf8))
        )
    }

    /// An error of FCM's: its code in an `FcmError` detail, violated fields
    /// in a `BadRequest` detail.
    static func fcm(
        _ status: Int,
        _ name: String,
        code: String? = nil,
        fields: [String] = [],
        message: String = "no",
        headers: [PushHeader] = []
    ) -> PushAnswer {
        var details: [String] = []
        if let code {
            details.append(
                "{\"@type\":\"type.googleapis.com/google.firebase.fcm.v1.FcmError\",\"errorCode\":\"\(code)\"}"
            )
        }
        if !fields.isEmpty {
            let violations = fields.map { "{\"field\":\"\($0)\"}" }.joined(separator: ",")
            details.append(
                "{\"@type\":\"type.googleapis.com/google.rpc.BadRequest\",\"fieldViolations\":[\(violations)]}"
            )
        }
        let body = """
            {"error":{"code":\(status),"message":"\(message)","status":"\(name)","details":[\(details.joined(separator: ","))]}}
            """
        return .response(PushResponse(status: status, headers: headers, body: Array(body.utf8)))
    }
}
