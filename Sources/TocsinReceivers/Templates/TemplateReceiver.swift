package import TocsinCore

/// The receiver of kind TEMPLATE: a shipped receiver, or an integration's own template.
package struct TemplateReceiver: Receiver {
    /// What it goes by.
    package let template: ReceiverTemplate

    /// A receiver that goes by a compiled template.
    package init(_ template: ReceiverTemplate) { self.template = template }

    /// Templates alone.
    package var kind: Integration.Kind { .template }
    /// Senders of webhooks use either.
    package var methods: [String] { ["POST", "PUT"] }

    private static let refusal = 422

    /// The events of a request; notes say which rule and place did not fit.
    package func read(_ request: ReceiverRequest, in context: ReceiverContext) -> Reading {
        guard methods.contains(request.method) else { return .refused(.methodNotAllowed) }
        var notes: [String] = []
        if let secret = context.signatureSecret {
            if let signature = template.signature {
                guard signature.accepts(request, secret: secret, hmacSHA256: context.hmacSHA256) else {
                    return .refused(.unauthenticated)
                }
            } else {
                notes.append("there is a secret for signatures, and the receiver \(template.name) has no \"signature\"")
            }
        }
        let input = TemplateInput(request, in: context)
        let outcome = template.outcome(of: input, in: context)
        guard !outcome.isRefused else {
            return .refused(
                .badInput(["No rule of the receiver \(template.name) is for this request."], code: Self.refusal)
            )
        }
        return .events(
            outcome.events.map { $0.action == .ignore ? $0 : $0.bounded(in: context) },
            notes: notes + outcome.trouble.sentences
        )
    }

    /// The template's answer, or that of native events.
    package func answer(_ accepted: AcceptedEvents, to request: ReceiverRequest) -> ReceiverAnswer {
        guard let answer = template.answer else { return EventReceiver().answer(accepted, to: request) }
        guard answer.status != 204 else { return ReceiverAnswer(204) }
        // No filter of an answer needs a hash that is kept from those who call.
        let input = TemplateInput(request, integration: accepted.integration.name, sha256: { $0 })
        var run = TemplateRun(
            input.scope,
            steps: ReceiverTemplate.maximumSteps,
            maximumTextBytes: ReceiverTemplate.maximumRawBytes
        )
        return ReceiverAnswer(answer.status, json: run.fill(answer.body))
    }

    /// As native events are answered; what a template refuses with 422.
    package func answer(_ fault: ReceiverFault, to request: ReceiverRequest) -> ReceiverAnswer {
        var answer = NativeAnswers.fault(fault, methods: methods)
        if case .badInput(_, code: Self.refusal?) = fault { answer.status = Self.refusal }
        return answer
    }
}
