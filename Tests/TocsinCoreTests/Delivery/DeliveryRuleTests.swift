import Testing
import TocsinCore

@Suite("Deliveries and their reasons")
struct DeliveryRuleTests {
    @Test("a member without a device stands in the ledger by a name that no device has, and is found again by it")
    func missing() {
        let missing = DeviceID.missing(of: UserID("auth0|a:b"))
        #expect(missing.userWithoutDevice == UserID("auth0|a:b"))
        #expect(DeviceID("d1").userWithoutDevice == nil)
        #expect(DeviceID("").userWithoutDevice == nil)
        #expect(DeviceID.missing(of: UserID("a")) != DeviceID.missing(of: UserID("b")))
    }

    @Test("the row of a member without a device is final from the start, and the same whenever it is made")
    func withoutDevice() {
        let row = Delivery.withoutDevice(MessageID("m1"), to: UserID("ann"), at: Timestamp(milliseconds: 5))
        #expect(row.status == .skipped && row.reason == .noDevice)
        #expect(row.platform == nil && row.attempts == 0 && row.nextAttemptAt == nil && row.leaseUntil == nil)
        #expect(row.updatedAt == Timestamp(milliseconds: 5))
        let again = Delivery.withoutDevice(MessageID("m1"), to: UserID("ann"), at: Timestamp(milliseconds: 9))
        #expect(again.id == row.id && again.deviceID == row.deviceID)
        #expect(Delivery.withoutDevice(MessageID("m1"), to: UserID("bob"), at: row.updatedAt).id != row.id)
        #expect(Delivery.withoutDevice(MessageID("m2"), to: UserID("ann"), at: row.updatedAt).id != row.id)
    }

    @Test("a fan-out begins with all devices, and nobody holds it")
    func fanout() {
        let fanout = Fanout(messageID: MessageID("m1"), topicID: TopicID("t1"), createdAt: Timestamp(milliseconds: 5))
        #expect(fanout.firstDevice.isEmpty && fanout.lastDevice.isEmpty && fanout.nextDevice.isEmpty)
        #expect(fanout.node == nil && fanout.leaseUntil == nil && !fanout.isUrgent)
    }

    @Test("a reason is its text, whoever says it, and a detail stands behind a colon")
    func reasons() {
        let provider = DeliveryReason(rawValue: "BadDeviceToken")
        #expect(provider == "BadDeviceToken")
        #expect("\(provider)" == "BadDeviceToken")
        #expect(provider.with(detail: "it is of another app").rawValue == "BadDeviceToken: it is of another app")
        #expect(provider.with(detail: "x") != provider)
    }

    @Test("our own reasons are words that differ from each other, and that no provider writes so")
    func ownReasons() {
        let own: [DeliveryReason] = [
            .providerNotConfigured, .appNotConfigured, .notificationsOff, .topicMuted, .noDevice, .deviceStale,
            .deviceGone, .deviceInactive, .unknownToken, .unknownAddress, .unregistered, .tokenMoved, .leftTopic,
            .accessEnded,
        ]
        #expect(Set(own).count == own.count)
        for reason in own {
            #expect(reason.rawValue.wholeMatch(of: /[A-Z]+(_[A-Z]+)*/) != nil, "\(reason)")
        }
    }

    @Test(
        "keys that Firebase keeps for itself are told from those that only look like them",
        arguments: [
            ("", true), ("from", true), ("message_type", true), ("google.", true), ("google.sent_time", true),
            ("gcm", true), ("gcm.notification", true), ("gcmx", true), ("From", false), ("from_", false),
            ("google", false), ("googlex", false), ("xgcm", false), ("GCM", false), ("url", false),
            // A sign that combines with the last letter leaves its byte as it is.
            ("gcm\u{301}", true), ("google.\u{301}", true),
        ]
    )
    func reservedKeys(key: String, isReserved: Bool) {
        #expect(PushDataKeys.isReserved(key) == isReserved)
    }

    @Test("an explanation tells first what was accepted, then what is in the way, then what is not decided")
    func summaries() {
        let message = Record(.messages([]), ["id": .text("m1")])
        let facts = DeliveryFacts(message: message, topic: nil, userID: UserID("ann"), now: Timestamp(milliseconds: 0))
        let anything = facts.explanation()
        func gate(_ passed: Bool?, _ sentence: String) -> DeliveryExplanation.Gate {
            var gate = anything.gates[0]
            (gate.passed, gate.sentence) = (passed, sentence)
            return gate
        }
        func explanation(_ gates: [DeliveryExplanation.Gate], _ states: [DeliveryStatus]) -> DeliveryExplanation {
            var explanation = anything
            let entries = states.enumerated().map { number, status in
                DeliveryService.Entry(
                    delivery: Delivery(
                        id: DeliveryID("x\(number)"),
                        messageID: MessageID("m1"),
                        deviceID: DeviceID("d\(number)"),
                        platform: .ios,
                        status: status,
                        updatedAt: Timestamp(milliseconds: 0)
                    ),
                    device: nil
                )
            }
            (explanation.gates, explanation.deliveries) = (gates, entries)
            return explanation
        }
        let gates = [
            gate(true, "good"), gate(nil, "open"), gate(false, "first"), gate(false, "second"), gate(nil, "last"),
        ]
        let accepted = explanation(gates, [.accepted, .failed, .accepted])
        #expect(accepted.summary == "The push was accepted for 2 of 3 devices." && accepted.isAccepted)
        let refused = explanation(gates, [.failed])
        #expect(refused.summary == "first" && !refused.isAccepted)
        #expect(explanation(gates.filter { $0.passed != false }, []).summary == "last")
        #expect(explanation([gate(true, "good")], []).summary == "Nothing is in the way.")
        #expect(explanation([], []).summary == "Nothing is in the way.")
    }

    @Test("the words of states, platforms and events are those that are stored and that clients send")
    func words() {
        #expect(
            DeliveryStatus.allCases.map(\.rawValue)
                == ["waiting", "sending", "accepted", "failed", "ended", "expired", "skipped"]
        )
        #expect(PushPlatform.allCases.map(\.rawValue) == ["ios", "android", "web"])
        #expect(PushEnvironment.allCases.map(\.rawValue) == ["sandbox", "production"])
        #expect(PushTokenKind.allCases.map(\.rawValue) == ["token", "fid"])
        #expect(
            WebhookEventType.allCases.map(\.rawValue)
                == ["register_push_token", "unregister_push_token", "send_push_notification", "schedule.due"]
                + [
                    "opened", "reopened", "raised", "acknowledged", "unacknowledged", "snoozed", "woken", "assigned",
                    "noted", "resolved",
                ].map { "incident." + $0 }
        )
        #expect(WebhookEvent.Status.allCases.map(\.rawValue) == ["waiting", "sending", "dead"])
    }

    @Test("an event for a webhook is due as soon as it is made, and was never tried")
    func webhookEvents() {
        let moment = Timestamp(milliseconds: 5)
        let event = WebhookEvent(
            id: WebhookEventID("e1"),
            webhook: "ops",
            type: .sendPushNotification,
            body: "{}",
            createdAt: moment
        )
        #expect(event.status == .waiting && event.nextAttemptAt == moment)
        #expect(event.attempts == 0 && event.reason == nil && event.leaseUntil == nil)
    }
}
