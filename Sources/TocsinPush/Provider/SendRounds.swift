import Synchronization
import TocsinCore

/// Sends a batch, then at once again what a retry action may mend: each action once, unprocessed
/// pushes three times.
struct SendRounds {
    /// What a round sends; decided anew for each, because credentials and
    /// sizes change between them.
    enum Plan {
        case send(PushBatch)
        /// Nothing can be sent now.
        case settle(PushResult)
    }

    private struct Leftover {
        var index: Int
        var action: RetryAction
        var otherwise: PushResult
    }

    private static let maximumRounds = 4
    /// So many failures in one batch are the provider's trouble, not one host's: trying
    /// elsewhere would only add to it.
    private static let fewFailures = 32
    let transport: any PushTransport
    /// Counts attempts and answers.
    var metrics: ProviderMetrics?

    /// - Parameters:
    ///   - count: How many targets there are.
    ///   - plan: The batch for these targets, in this order; told the actions that were applied.
    ///   - decide: The answer table.
    ///   - apply: Performs an action for the batch that needed it.
    ///   - cancellation: Why a target is not to be sent to any more, asked when its batch is ready.
    ///   - settled: Receives each target's result once.
    func run(
        count: Int,
        plan: (_ indices: [Int], _ tried: Set<RetryAction>) async -> Plan,
        decide: @escaping @Sendable (PushAnswer) -> AnswerDecision,
        apply: (RetryAction, PushBatch) async -> Void,
        cancellation: (@Sendable (Int) -> DeliveryReason?)? = nil,
        settled: @escaping @Sendable (Int, PushResult) -> Void
    ) async {
        var pending = Array(0..<count)
        var tried: Set<RetryAction> = []
        for round in 1...Self.maximumRounds where !pending.isEmpty {
            var planned = await plan(pending, tried)
            // Making the plan may have taken a while: a token was fetched, a connection was closed.
            if let cancellation, case .send = planned, Self.cancel(&pending, cancellation, settled) {
                guard !pending.isEmpty else { return }
                planned = await plan(pending, tried)
            }
            switch planned {
            case .settle(let result):
                for index in pending { settled(index, result) }
                return
            case .send(let batch):
                let isLast = round == Self.maximumRounds
                let leftovers = await send(batch, pending, isLast ? nil : tried, decide, settled)
                let worth = Self.worthwhile(leftovers, settled)
                for action in Set(worth.map(\.action)) where action != .none {
                    tried.insert(action)
                    await apply(action, batch)
                }
                pending = worth.map(\.index)
            }
        }
    }

    /// Settles what was cancelled; answers whether anything was.
    private static func cancel(
        _ pending: inout [Int],
        _ cancellation: (Int) -> DeliveryReason?,
        _ settled: (Int, PushResult) -> Void
    ) -> Bool {
        let before = pending.count
        pending.removeAll { index in
            guard let reason = cancellation(index) else { return false }
            settled(index, .skipped(reason: reason))
            return true
        }
        return pending.count < before
    }

    /// Settles those of a provider in trouble.
    private static func worthwhile(
        _ leftovers: [Leftover],
        _ settled: (Int, PushResult) -> Void
    ) -> [Leftover] {
        guard leftovers.count(where: { $0.action == .otherConnection }) > fewFailures else { return leftovers }
        for leftover in leftovers where leftover.action == .otherConnection {
            settled(leftover.index, leftover.otherwise)
        }
        return leftovers.filter { $0.action != .otherConnection }
    }

    /// Sends one round; `tried` is nil when nothing may be sent again.
    private func send(
        _ batch: PushBatch,
        _ pending: [Int],
        _ tried: Set<RetryAction>?,
        _ decide: @escaping @Sendable (PushAnswer) -> AnswerDecision,
        _ settled: @escaping @Sendable (Int, PushResult) -> Void
    ) async -> [Leftover] {
        let leftovers = LeftoverList()
        let (metrics, start) = (metrics, ContinuousClock.now)
        await transport.send(batch) { position, answer in
            let index = pending[position]
            let decision = decide(answer)
            metrics?.note(answer, decision, since: start)
            switch decision {
            case .settled(let result):
                settled(index, result)
            case .again(let action, let otherwise):
                guard let tried, !tried.contains(action) else { return settled(index, otherwise) }
                leftovers.list.withLock {
                    $0.append(Leftover(index: index, action: action, otherwise: otherwise))
                }
            }
        }
        return leftovers.list.withLock { $0 }
    }

    /// Shared with the transport's threads while a round is under way.
    private final class LeftoverList: Sendable {
        let list = Mutex<[Leftover]>([])
    }
}

/// How an answer table judges one answer.
enum AnswerDecision: Sendable, Hashable {
    case settled(PushResult)
    /// Send again at once after the action; if that was tried already, settle with the other
    /// result.
    case again(RetryAction, otherwise: PushResult)
}

/// What to do before a push is sent again at once.
enum RetryAction: Sendable, Hashable {
    /// Nothing: the peer did not look at it.
    case none
    case newConnection
    /// Use a connection beside the usual ones, for one host of many may be in trouble.
    case otherConnection
    case newCredential
    /// Make no new credential for a while; the connection has seen another one.
    case heldCredential
    case smallerPayload
}

/// What it leads to when no answer came: the same for every provider.
enum TransportTrouble {
    static func decision(_ answer: PushAnswer) -> AnswerDecision {
        switch answer {
        case .response:
            .settled(.retry(PushRetry(.serverFault, reason: .unexpectedAnswer)))
        case .notProcessed(let reason):
            .again(
                .none,
                otherwise: .retry(
                    PushRetry(
                        .notProcessed,
                        reason: .notProcessed.with(detail: ReasonText.cleaned(reason)),
                        afterSeconds: 1,
                        countsAttempt: false
                    )
                )
            )
        case .unknown(let reason):
            .settled(.retry(PushRetry(.brokenRequest, reason: .noAnswer.with(detail: ReasonText.cleaned(reason)))))
        case .unreachable(let reason):
            .settled(.pause(reason: .unreachable.with(detail: ReasonText.cleaned(reason))))
        }
    }
}

/// Words from outside, made fit for rows and logs.
enum ReasonText {
    private static let maximumBytes = 200

    /// At most 200 bytes without control characters.
    static func cleaned(_ text: String) -> String {
        let kept = TextFitting.prefix(of: text, bytes: maximumBytes)
        let isClean = kept.unicodeScalars.allSatisfy { !isControl($0) }
        if isClean { return kept }
        return String(String.UnicodeScalarView(kept.unicodeScalars.map { isControl($0) ? " " : $0 }))
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control
    }
}
