import TocsinCore

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
