/// Seals the calls of buttons before messages are made of them, and takes what is left as usual.
package struct ButtonSealing: EventIntake {
    private let intake: any EventIntake
    private let sealer: any Sealer

    /// Takes by `intake` what was sealed.
    package init(_ intake: any EventIntake, sealer: any Sealer) { (self.intake, self.sealer) = (intake, sealer) }

    /// Takes the events; where the integration allows no calls, none is kept.
    package func take(
        _ events: [SenderEvent],
        from integration: Integration
    ) async throws(ServiceError) -> [EventOutcome] {
        guard events.contains(where: { $0.buttons.contains { $0.call != nil } }) else {
            return try await intake.take(events, from: integration)
        }
        let sealed = events.map { event in
            var event = event
            event.buttons = event.buttons.compactMap { button in
                guard let call = button.call else { return button }
                guard integration.allowsHTTPActions, ButtonCall.problem(of: call) == nil else { return nil }
                var button = button
                button.call = nil
                button.sealedCall = ButtonCall(call, title: button.title, integrationID: integration.id).sealed(sealer)
                return button
            }
            return event
        }
        return try await intake.take(sealed, from: integration)
    }
}
