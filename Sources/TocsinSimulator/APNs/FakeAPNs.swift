import JSON

/// Stands in for APNs: refuses what Apple refuses, answers as Apple answers.
struct FakeAPNs: WireService {
    let settings: SimulatorSettings
    let tokens: ProviderTokenRules
    let conditions: Conditions
    let recorder: Recorder

    var opensWithOneStream: Bool { true }
    var limits: SimulatorLimits.Wire { conditions.limits.apns }
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
        connection.requests += 1
        let id = request.value("apns-id") ?? recorder.makeID()
        var record = PushRecord(.apns, connection: connection.id, request: request, providerID: id)
        record.token = APNsRequest.deviceToken(inPath: request.path).map(String.init) ?? ""
        do throws(APNsRefusal) {
            guard request.method == "POST" else { throw APNsRefusal(.methodNotAllowed, "the method is not POST") }
            guard !record.token.isEmpty || request.path == "/3/device/" else {
                throw APNsRefusal(.badPath, "the path is not /3/device/<token>")
            }
            try tokens.check(request, on: &connection)
            let push = try APNsRequest(request, bundleIDs: connection.binding?.bundleIDs ?? [])
            record.token = push.deviceToken
            record.replaceKey = push.collapseID
            record.deliveryKey = request.value("apns-id")
            return scripted(push, &record, request: connection.requests)
        } catch {
            return refuse(error, &record)
        }
    }

    private func scripted(_ push: APNsRequest, _ record: inout PushRecord, request: Int) -> WireReply {
        guard let effect = conditions.effect(for: push.deviceToken, of: .apns, request: request) else {
            record.accept(status: 200)
            recorder.add(record, push.arrival)
            return .answer(answer(200, record))
        }
        return play(effect, push, &record)
    }

    private func play(_ effect: ScriptEffect, _ push: APNsRequest, _ record: inout PushRecord) -> WireReply {
        switch effect {
        case .apns(let reason):
            return refuse(APNsRefusal(reason, "scripted"), &record)
        case .unregistered(let agoSeconds):
            return refuse(APNsRefusal(.unregistered, "scripted"), agoSeconds: agoSeconds, &record)
        case .unheardReason:
            record.refuse(status: 400, reason: FaultNames.unheard, detail: "scripted")
            recorder.add(record, nil)
            return .answer(answer(400, record, body: ["reason": .string(FaultNames.unheard)]))
        case .shutdown:
            guard case .answer(let answer) = refuse(APNsRefusal(.shutdown, "scripted"), &record) else { return .hangUp }
            return .goAway(answer, GoAway(reason: APNsReason.shutdown.rawValue))
        case .fcm(let failure):
            return refuse(APNsRefusal(.internalServerError, "scripted: \(failure.name)"), &record)
        case .webPush(let refusal):
            return refuse(APNsRefusal(.internalServerError, "scripted: \(refusal.reason)"), &record)
        case .late(let effect, let seconds):
            return play(effect, push, &record).delayed(seconds: seconds)
        case .wire(let fault):
            record.meet(fault)
            recorder.add(record, push.arrival)
            return fault.reply(slowSeconds: conditions.limits.lateSeconds) { answer(200, record) }
        }
    }

    private func refuse(
        _ refusal: APNsRefusal,
        agoSeconds: Int64 = 0,
        _ record: inout PushRecord
    ) -> WireReply {
        let reason = refusal.reason
        record.refuse(status: reason.status, reason: reason.rawValue, detail: refusal.detail)
        recorder.add(record, nil)
        var body: JSONObject = ["reason": .string(reason.rawValue)]
        if reason.status == 410 {
            body["timestamp"] = .int(settings.nowMilliseconds() - agoSeconds * 1000)
        }
        return .answer(answer(reason.status, record, body: .object(body)))
    }

    private func answer(_ status: Int, _ record: PushRecord, body: JSONValue? = nil) -> WireAnswer {
        var answer = WireAnswer(status: status, headers: [("apns-id", record.providerID)])
        if settings.development { answer.headers.append(("apns-unique-id", recorder.makeID())) }
        if let body {
            answer.headers.append(("content-type", "application/json"))
            answer.body = body.serialized()
        }
        return answer
    }
}
