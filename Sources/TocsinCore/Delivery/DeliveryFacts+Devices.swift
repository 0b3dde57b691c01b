extension DeliveryFacts {
    private typealias Gate = DeliveryExplanation.Gate

    /// The gates of one device, in order.
    func gates(of device: Device) -> [DeliveryExplanation.Gate] {
        var gates = [activeGate(device)]
        if device.isActive, device.isSignedOut(at: now) { gates.append(signedOutGate(device)) }
        if let forecast {
            if forecast.isStale(device, now: now) { gates.append(staleGate(device)) }
            gates += wayGates(device, forecast.outlook(of: device))
        }
        gates.append(deliveryGate(device))
        return gates
    }

    private func title(of device: Device) -> String {
        let name = device.name.map { " \"\($0)\"" } ?? ""
        return "The \(device.platform.rawValue) device\(name)"
    }

    private func activeGate(_ device: Device) -> Gate {
        guard device.isActive else {
            let reason = device.disabledReason?.rawValue ?? "no reason is known"
            return Gate(
                name: .deviceActive,
                passed: false,
                sentence: "\(title(of: device)) was retired: \(reason).",
                advice: "Open the app on it: registering its token again revives it.",
                device: device
            )
        }
        let sentence = "\(title(of: device)) is active, last registered at \(device.registeredAt.iso8601)."
        return Gate(name: .deviceActive, passed: true, sentence: sentence, device: device)
    }

    private func signedOutGate(_ device: Device) -> Gate {
        Gate(
            name: .access,
            passed: false,
            sentence: "The sign-in that it is bound to has ended (\(DeliveryReason.accessEnded.rawValue)).",
            advice: "Sign in on it again, and let the app register its token.",
            device: device
        )
    }

    private func staleGate(_ device: Device) -> Gate {
        Gate(
            name: .deviceFresh,
            passed: false,
            sentence: "It was last heard of at \(device.lastSeenAt.iso8601), too long ago "
                + "(\(DeliveryReason.deviceStale.rawValue)).",
            advice: "Open the app on it, or raise TOCSIN_PUSH_STALE_DAYS.",
            device: device
        )
    }

    private func wayGates(_ device: Device, _ outlook: PushOutlook) -> [Gate] {
        switch outlook {
        case .unreachable(let reason):
            let app = device.appID.isEmpty ? "the default app" : "the app \(device.appID)"
            let way = device.platform == .ios && device.isNamedByFirebase ? " through Firebase" : ""
            return [
                Gate(
                    name: .provider,
                    passed: false,
                    sentence: "The server has no credentials to push to \(app) on \(device.platform.rawValue)\(way) "
                        + "(\(reason.rawValue)).",
                    advice: "Add them to the settings, restart, then redrive the message's SKIPPED deliveries.",
                    device: device
                )
            ]
        case .open(let way):
            return [
                providerGate(device, way),
                Gate(name: .lane, passed: true, sentence: "The way to \(way.service) is open.", device: device),
            ]
        case .paused(let way, let reason, let until):
            return [
                providerGate(device, way),
                Gate(
                    name: .lane,
                    passed: false,
                    sentence: "Pushes by \(way.service) are paused: \(reason). Tried again at \(until.iso8601).",
                    advice: "Mend what the reason names; what waits is then sent by itself.",
                    device: device
                ),
            ]
        }
    }

    private func providerGate(_ device: Device, _ way: PushOutlook.Way) -> Gate {
        let app = way.app.isEmpty ? "the default app" : way.app
        let side = way.environment.map { ", \($0.rawValue)" } ?? ""
        let sentence = "It is reached by \(way.service) for \(app)\(side)."
        return Gate(name: .provider, passed: true, sentence: sentence, device: device)
    }

    private func deliveryGate(_ device: Device) -> Gate {
        guard let delivery = deliveries.first(where: { $0.deviceID == device.id }) else { return missingGate(device) }
        let reason = delivery.reason.map { ": \($0)" } ?? ""
        let attempts = "after \(delivery.attempts) attempt\(delivery.attempts == 1 ? "" : "s")"
        let next = delivery.nextAttemptAt.map { ", next at \($0.iso8601)" } ?? ""
        switch delivery.status {
        case .accepted where delivery.reason == .inSummary:
            return gate(device, true, "A summary told of it at \(delivery.updatedAt.iso8601)\(reason).")
        case .waiting where delivery.reason == .quietHours:
            return gate(device, nil, "It waits for the end of the user's quiet\(reason)\(next).")
        case .accepted:
            let id = delivery.providerID.map { " as \($0)" } ?? ""
            return gate(device, true, "The provider accepted it at \(delivery.updatedAt.iso8601)\(id), \(attempts).")
        case .waiting:
            return gate(device, nil, "It waits \(attempts)\(reason)\(next).")
        case .sending:
            return gate(device, nil, "It is being sent, \(attempts).")
        case .failed:
            let advice = "Mend what the reason names, then redrive the message's FAILED deliveries."
            return gate(device, false, "It failed \(attempts)\(reason).", advice)
        case .ended where delivery.reason == .accessEnded:
            return gate(device, false, "It ended, as the right to it did\(reason).")
        case .ended:
            return gate(device, false, "It ended, as the device did\(reason).")
        case .expired:
            return gate(device, false, "It expired before it could be sent, \(attempts)\(reason).")
        case .skipped:
            let advice = "Once the reason is gone, redrive the message's SKIPPED deliveries."
            return gate(device, false, "It was skipped\(reason).", advice)
        }
    }

    private func missingGate(_ device: Device) -> Gate {
        if isFanningOut { return gate(device, nil, "The message is still on its way to the topic's devices.") }
        let why =
            DirectPushService.isTopic(message["topicId"].text ?? "")
            ? "the push was not addressed to it, or it was not registered then."
            : "the device or the membership was not active when the message was stored."
        return gate(device, false, "There is no delivery to it: " + why)
    }

    private func gate(_ device: Device, _ passed: Bool?, _ sentence: String, _ advice: String? = nil) -> Gate {
        Gate(name: .delivery, passed: passed, sentence: sentence, advice: advice, device: device)
    }
}
