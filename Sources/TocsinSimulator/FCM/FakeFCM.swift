import JSON

/// Stands in for FCM HTTP v1 and for Google's token endpoint, `POST /token`.
struct FakeFCM: WireService {
    let settings: SimulatorSettings
    let tokens: AccessTokens
    let conditions: Conditions
    let recorder: Recorder

    var opensWithOneStream: Bool { false }
    var limits: SimulatorLimits.Wire { conditions.limits.fcm }
    var readsHeaders: Bool { settings.recording }

    func connectionOpened() -> WireConnection { recorder.makeConnection() }
    func connectionClosed(_ connection: WireConnection) { recorder.connectionClosed(connection, .fcm) }
    func streamsOpen(_ count: Int) { recorder.streamsOpen(count, .fcm) }

    func reply(to request: WireRequest, on connection: inout WireConnection) -> WireReply {
        if request.path == "/token" { return tokenReply(request) }
        recorder.count(&connection, .fcm)
        connection.requests += 1
        let name = "projects/\(settings.projectID)/messages/0:\(recorder.makeID())"
        guard settings.recording else {
            recorder.acceptedUnread(.fcm)
            return .answer(Self.answer(name))
        }
        var record = PushRecord(.fcm, connection: connection.id, request: request, providerID: name)
        do throws(FCMFailure) {
            try checkPath(request)
            try tokens.check(request)
            if let refusal = conditions.takeProjectQuota() { throw refusal }
            let push = try FCMRequest(request)
            record.token = push.target
            if push.validatesOnly { record.providerID = "projects/\(settings.projectID)/messages/fake_message_id" }
            // What is only validated reaches no phone, so it doubles nothing.
            record.replaceKey = push.validatesOnly ? nil : push.replaceKey
            record.deliveryKey = push.validatesOnly ? nil : push.deliveryKey
            if push.isForOneDevice, let refusal = conditions.takeDeviceQuota(push.target) { throw refusal }
            return scripted(push, &record, request: connection.requests)
        } catch {
            return refuse(error, &record)
        }
    }

    private func tokenReply(_ request: WireRequest) -> WireReply {
        let answer = tokens.answer(request)
        guard let outage = conditions.outage(of: .token) else { return .answer(answer) }
        return outage.tokenReply(answer, slowSeconds: conditions.limits.lateSeconds)
    }

    private func checkPath(_ request: WireRequest) throws(FCMFailure) {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
        guard request.method == "POST", parts.count == 5, parts[1] == "v1", parts[2] == "projects",
            parts[4] == "messages:send"
        else {
            throw FCMFailure.unreadableField("path", "POST /v1/projects/{project}/messages:send is the only method")
        }
        guard parts[3] == settings.projectID else { throw FCMFailure.projectNotFound }
    }

    private func scripted(_ push: FCMRequest, _ record: inout PushRecord, request: Int) -> WireReply {
        let arrival = push.arrival(nowMilliseconds: settings.nowMilliseconds())
        guard let effect = conditions.effect(for: push.target, of: .fcm, request: request) else {
            record.accept(status: 200)
            recorder.add(record, arrival)
            return .answer(Self.answer(record.providerID))
        }
        return play(effect, arrival, &record)
    }

    private func play(_ effect: ScriptEffect, _ arrival: Arrival?, _ record: inout PushRecord) -> WireReply {
        switch effect {
        case .fcm(let failure):
            return refuse(failure, &record)
        case .apns, .unregistered, .unheardReason, .shutdown, .webPush:
            return refuse(.internalError, &record)
        case .late(let effect, let seconds):
            return play(effect, arrival, &record).delayed(seconds: seconds)
        case .wire(let fault):
            record.meet(fault)
            recorder.add(record, arrival)
            return fault.reply(slowSeconds: conditions.limits.lateSeconds) { Self.answer(record.providerID) }
        }
    }

    private func refuse(_ failure: FCMFailure, _ record: inout PushRecord) -> WireReply {
        record.refuse(status: failure.parts.http, reason: failure.name, detail: failure.detail)
        recorder.add(record, nil)
        return .answer(failure.answer(nowMilliseconds: settings.nowMilliseconds(), projectID: settings.projectID))
    }

    private static func answer(_ name: String) -> WireAnswer {
        let body: JSONValue = ["name": .string(name)]
        return WireAnswer(
            status: 200,
            headers: [("content-type", "application/json; charset=UTF-8")],
            body: body.serialized()
        )
    }
}
