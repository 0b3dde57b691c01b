import JSON

/// Stands in for APNs: refuses what Apple refuses, answers as Apple answers.
struct FakeAPNs: WireService {
    let settings: SimulatorSettings
    let tokens: ProviderTokenRules
    let recorder: Recorder

    var opensWithOneStream: Bool { true }
    var maximumStreams: Int { settings.maximumStreams }
    var readsHeaders: Bool { settings.recording }

    func connectionOpened() -> WireConnection {
        var connection = recorder.makeConnection()
        recorder.count(&connection, .apns)
        return connection
    }

    func connectionClosed(_ connection: WireConnection) { recorder.connectionClosed(connection, .apns) }
    func streamsOpen(_ count: Int) { recorder.streamsOpen(count, .apns) }

    func reply(to request: WireRequest, on connection: inout WireConnection) -> WireReply {
        guard settings.recording else {
            connection.isOpened = true
            recorder.acceptedUnread(.apns)
            return .answer(WireAnswer(status: 200))
        }
        let id = request.value("apns-id") ?? LowercaseUUID.random()
        var record = PushRecord(.apns, connection: connection.id, request: request, providerID: id)
        record.token = APNsRequest.deviceToken(inPath: request.path).map(String.init) ?? ""
        do throws(APNsRefusal) {
            guard request.method == "POST" else { throw APNsRefusal(.methodNotAllowed, "the method is not POST") }
            guard !record.token.isEmpty || request.path == "/3/device/" else {
                throw APNsRefusal(.badPath, "the path is not /3/device/<token>")
            }
            try tokens.check(request, on: &connection)
            let push = try APNsRequest(request, bundleIDs: settings.bundleIDs)
            record.token = push.deviceToken
            record.payload = push.payload
            record.replaceKey = push.collapseID
            record.deliveryKey = request.value("apns-id")
            return scripted(push, &record)
        } catch {
            return refuse(error, &record)
        }
    }

    private func scripted(_ push: APNsRequest, _ record: inout PushRecord) -> WireReply {
        guard let effect = recorder.effect(for: push.deviceToken, of: .apns) else { return accept(&record) }
        switch effect {
        case .apns(let reason):
            return refuse(APNsRefusal(reason, "scripted"), &record)
        case .unregistered(let agoSeconds):
            return refuse(APNsRefusal(.unregistered, "scripted"), agoSeconds: agoSeconds, &record)
        case .unheardReason:
            record.refuse(status: 400, reason: "TheMoonIsWrong", detail: "scripted")
            recorder.add(record)
            return .answer(answer(400, record, body: ["reason": "TheMoonIsWrong"]))
        case .shutdown:
            guard case .answer(let answer) = refuse(APNsRefusal(.shutdown, "scripted"), &record) else { return .hangUp }
            return .lastAnswer(answer, reason: APNsReason.shutdown.rawValue)
        case .fcm:
            return accept(&record)
        case .slow, .silence, .headersOnly, .reset, .acceptedThenReset, .acceptedThenGoAway, .refusedByGoAway,
            .hangUp, .acceptedThenHangUp:
            return WireFault.reply(effect, settings, record, recorder) { answer(200, record) }
        }
    }

    private func accept(_ record: inout PushRecord) -> WireReply {
        record.accept(status: 200)
        recorder.add(record)
        return .answer(answer(200, record))
    }

    private func refuse(
        _ refusal: APNsRefusal,
        agoSeconds: Int64 = 0,
        _ record: inout PushRecord
    ) -> WireReply {
        let reason = refusal.reason
        record.refuse(status: reason.status, reason: reason.rawValue, detail: refusal.detail)
        recorder.add(record)
        var body: JSONObject = ["reason": .string(reason.rawValue)]
        if reason.status == 410 {
            body["timestamp"] = .int(settings.nowMilliseconds() - agoSeconds * 1000)
        }
        return .answer(answer(reason.status, record, body: .object(body)))
    }

    private func answer(_ status: Int, _ record: PushRecord, body: JSONValue? = nil) -> WireAnswer {
        var answer = WireAnswer(status: status, headers: [("apns-id", record.providerID)])
        if settings.development { answer.headers.append(("apns-unique-id", LowercaseUUID.random())) }
        if let body {
            answer.headers.append(("content-type", "application/json"))
            answer.body = body.serialized()
        }
        return answer
    }
}

/// Scripted faults of stream and connection, the same for both providers.
enum WireFault {
    static func reply(
        _ effect: ScriptEffect,
        _ settings: SimulatorSettings,
        _ record: PushRecord,
        _ recorder: Recorder,
        answer: () -> WireAnswer
    ) -> WireReply {
        var record = record
        switch effect {
        case .slow, .acceptedThenReset, .acceptedThenGoAway, .acceptedThenHangUp:
            record.accept(status: 200)
        default:
            record.refuse(status: 0, reason: "\(effect)", detail: "scripted")
        }
        recorder.add(record)
        switch effect {
        case .slow: return .late(answer(), afterSeconds: settings.slowAnswerSeconds)
        case .headersOnly: return .headersOnly(status: 200)
        case .reset(let errorCode): return .reset(errorCode: errorCode)
        case .acceptedThenReset: return .reset(errorCode: 2)
        case .acceptedThenGoAway: return .lastAnswer(answer(), reason: APNsReason.shutdown.rawValue)
        case .refusedByGoAway: return .refusedByGoAway(reason: APNsReason.shutdown.rawValue)
        case .hangUp, .acceptedThenHangUp: return .hangUp
        default: return .silence
        }
    }
}
