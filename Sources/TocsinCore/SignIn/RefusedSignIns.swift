import Synchronization

/// A sign-in that was refused, or a wrong password beside one, as log and audit tell it.
package struct SignInRefusal: Sendable, Hashable {
    /// A short word that keeps its meaning, such as `wrong_password` or `state_mismatch`.
    package var reason: String
    /// More of it for the log; holds no secret.
    package var sentence: String?
    /// Whose account it was, where there is one.
    package var user: UserID?
    /// The sign-in provider's id.
    package var provider: String?
    /// Who wanted a new password for themselves; nil for all who wanted to be let in.
    package var caller: Identity?
    /// Where it came from.
    package var origin: RequestOrigin?

    /// The reason of a request that no page of ours has sent.
    package static let ofPage = "page_refused"

    /// A refusal for this reason.
    package init(
        reason: String,
        sentence: String? = nil,
        user: UserID? = nil,
        provider: String? = nil,
        origin: RequestOrigin? = RequestOrigin.current
    ) {
        (self.reason, self.sentence, self.user) = (reason, sentence, user)
        (self.provider, self.origin) = (provider, origin)
    }
}

/// Writes each refused sign-in to the log and to the audit, beside requests.
///
/// At most sixty in a minute have a row and a line of their own; the rest of a minute is one row
/// with a count, so that an attack fills neither. What no page of ours has sent costs its sender
/// nothing, so it has ten of its own, and hides no wrong password.
package final class RefusedSignIns: Sendable {
    /// Rows of a minute at most, but for the one of the rest.
    package static let rowsPerMinute = 60
    /// The same of requests that no page of ours has sent.
    package static let pageRowsPerMinute = 10

    private enum Entry: Sendable {
        case one(SignInRefusal)
        case rest(count: Int, ofPages: Bool)
    }

    private struct State {
        var minute = Int64.min
        var count = 0
    }

    private let environment: ServiceEnvironment
    private let report: @Sendable (SignInRefusal) -> Void
    private let state = Mutex((signIns: State(), pages: State()))
    private let queue: AsyncStream<Entry>
    private let inbox: AsyncStream<Entry>.Continuation

    /// Refusals that are written to the store of `environment`; `report` writes a line to the log.
    package init(environment: ServiceEnvironment, report: @escaping @Sendable (SignInRefusal) -> Void) {
        (self.environment, self.report) = (environment, report)
        (queue, inbox) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1000))
    }

    /// Whether one more refused sign-in of this minute has a row and a line of its own.
    var hasRowLeft: Bool {
        state.withLock { $0.signIns.minute != minute || $0.signIns.count < Self.rowsPerMinute }
    }

    private var minute: Int64 { environment.time.now().milliseconds / 60_000 }

    /// Takes a refusal; never waits.
    package func note(_ refusal: SignInRefusal) {
        let minute = minute
        let isOfPage = refusal.reason == SignInRefusal.ofPage
        let (isOwn, rest) = state.withLock { state in
            isOfPage
                ? Self.count(&state.pages, in: minute, atMost: Self.pageRowsPerMinute)
                : Self.count(&state.signIns, in: minute, atMost: Self.rowsPerMinute)
        }
        if rest > 0 { inbox.yield(.rest(count: rest, ofPages: isOfPage)) }
        guard isOwn else { return }
        report(refusal)
        inbox.yield(.one(refusal))
    }

    /// Counts one more; answers whether it has a row of its own, and how many of a minute that is
    /// over had none.
    private static func count(_ state: inout State, in minute: Int64, atMost maximum: Int) -> (isOwn: Bool, rest: Int) {
        var rest = 0
        if state.minute != minute {
            rest = max(0, state.count - maximum)
            state = State(minute: minute)
        }
        state.count += 1
        return (state.count <= maximum, rest)
    }

    /// Writes rows until it is cancelled.
    package func run() async {
        for await entry in queue {
            let (environment, event) = (environment, event(of: entry))
            do throws(StoreError) {
                try await environment.store.write { writer throws(StoreError) in
                    var event = event
                    event.id = environment.identifiers.makeID()
                    try writer.record(event)
                }
            } catch {
                // The log has the line; the store has said why it cannot write.
            }
        }
    }

    private func event(of entry: Entry) -> AuditEvent {
        let refusal: SignInRefusal
        var detail: AuditDetail
        switch entry {
        case .one(let one):
            refusal = one
            detail = ["reason": .text(one.reason), "provider": one.provider.map { .text($0) }]
        case .rest(let count, let ofPages):
            refusal = SignInRefusal(reason: ofPages ? SignInRefusal.ofPage : "others", origin: nil)
            detail = ["reason": .text(refusal.reason), "count": .int(Int64(count))]
        }
        if let name = environment.nodeName { detail["node"] = .text(name) }
        if let caller = refusal.caller {
            var event = environment.audit(
                action: "user.password",
                by: caller,
                on: .user(caller.userID),
                about: caller.userID,
                detail: detail,
                outcome: .refused
            )
            event.origin = refusal.origin ?? RequestOrigin(address: nil)
            return event
        }
        let subject = AuditSubject(kind: .session, id: refusal.user?.text ?? "none", owner: refusal.user?.text)
        var event = environment.audit(
            action: "session.refused",
            by: AuditActor.stranger,
            on: subject,
            about: refusal.user,
            detail: detail,
            outcome: .refused
        )
        event.origin = refusal.origin ?? RequestOrigin(address: nil)
        return event
    }
}
