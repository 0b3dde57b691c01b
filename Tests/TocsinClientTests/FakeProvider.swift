import Encodings
import JSON
import Synchronization
import TocsinClient

/// A provider that gives `token-1`, `token-2` and so on, or what it is told to.
final class FakeProvider: Sendable {
    enum Answer: Sendable {
        case token(AccessToken)
        case failure
        case signedOut
        /// Does not come back before the test ends.
        case hangs
    }

    private struct State {
        var requests: [CredentialRequest] = []
        var hanging: [CheckedContinuation<Void, Never>] = []
        var isOver = false
    }

    struct Failure: Error {}

    private let state = Mutex(State())
    private let answer: @Sendable (_ call: Int) -> Answer

    init(_ answer: @escaping @Sendable (_ call: Int) -> Answer) { self.answer = answer }

    var requests: [CredentialRequest] { state.withLock { $0.requests } }
    var calls: Int { requests.count }
    /// How often it had failed, as each call was told.
    var failures: [Int] { requests.map(\.failures) }

    var credentials: ClientCredentials {
        .provider { request in
            let call = self.state.withLock { state in
                state.requests.append(request)
                return state.requests.count
            }
            switch self.answer(call) {
            case .token(let token): return token
            case .failure: throw Failure()
            case .signedOut: throw SignedOut()
            case .hangs:
                await withCheckedContinuation { waiter in
                    let isOver = self.state.withLock { state in
                        if !state.isOver { state.hanging.append(waiter) }
                        return state.isOver
                    }
                    if isOver { waiter.resume() }
                }
                throw Failure()
            }
        }
    }

    /// Lets hanging calls go.
    func end() {
        let hanging = state.withLock { state in
            state.isOver = true
            defer { state.hanging = [] }
            return state.hanging
        }
        for waiter in hanging { waiter.resume() }
    }

    /// A token of a user as issuers write them; nobody checks its signature here.
    static func webToken(_ subject: String, issued: Int64, ends: Int64) -> String {
        let claims: JSONValue = ["sub": .string(subject), "iat": .int(issued), "exp": .int(ends)]
        return [Array("{}".utf8), claims.serialized(), Array("signature".utf8)].map { Base64URL.encoded($0) }
            .joined(separator: ".")
    }
}
