import JSON

/// Stands in for FCM HTTP v1 and for Google's token endpoint, `POST /token`.
struct FakeFCM: WireService {
    let settings: SimulatorSettings
    let tokens: AccessTokens
    let recorder: Recorder

    var opensWithOneStream: Bool { false }
    var maximumStreams: Int { settings.maximumStreams }
    var readsHeaders: Bool { settings.recording }

    func connectionOpened() -> WireConnection { recorder.makeConnection() }
    func connectionClosed(_ connection: WireConnection) { recorder.connectionClosed(connection, .fcm) }
    func streamsOpen(_ count: Int) { recorder.streamsOpen(count, .fcm) }

    func reply(to request: WireRequest, on connection: inout WireConnection) -> WireReply {
        if request.path == "/token" { return tokenReply(request) }
        recorder.count(&connection, .fcm)
        let name = "projects/\(settings.projectID)/messages/0:\(LowercaseUUID.random())"
        guard settings.recording else {
            recorder.acceptedUnread(.fcm)
            return .answer(Self.answer(name))
        }
        var record = PushRecord(.fcm, connection: connection.id, request: request, providerID: name)
        do throws(FCMFailure) {
            try checkPath(request)
            try tokens.check(request)
            guard recorder.takeQuota() else {
                throw FCMFailure.quotaExceeded(.seconds(60 - Int(settings.nowMilliseconds() / 1000 % 60)))
            }
            let push = try FCMRequest(request)
            record.token = push.token
            record.payload = push.body
            // What is only validated reaches no phone, so it doubles nothing.
            record.replaceKey = push.validatesOnly ? nil : push.replaceKey
            record.deliveryKey = push.validatesOnly ? nil : push.deliveryKey
            return scripted(push, &record)
        } catch {
            return refuse(error, &record)
        }
    }

    private func tokenReply(_ request: WireRequest) -> WireReply {
        let answer = tokens.answer(request)
        guard let outage = recorder.outage(of: .token) else { return .answer(answer) }
        return outage.tokenReply(answer, slowSeconds: settings.slowAnswerSeconds)
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

    private func scripted(_ push: FCMRequest, _ record: inout PushRecord) -> WireReply {
        guard let effect = recorder.effect(for: push.token, of: .fcm) else {
            record.accept(status: 200)
            recorder.add(record)
            return .answer(Self.answer(record.providerID))
        }
        switch effect {
        case .fcm(let failure):
            return refuse(failure, &record)
        case .apns, .unregistered, .unheardReason, .shutdown:
            return refuse(.internalError, &record)
        case .slow, .silence, .headersOnly, .reset, .acceptedThenReset, .acceptedThenGoAway, .refusedByGoAway,
            .hangUp, .acceptedThenHangUp:
            return WireFault.reply(effect, settings, record, recorder) { Self.answer(record.providerID) }
        }
    }

    private func refuse(_ failure: FCMFailure, _ record: inout PushRecord) -> WireReply {
        record.refuse(status: failure.parts.http, reason: failure.name, detail: failure.detail)
        recorder.add(record)
        return .answer(failure.answer(nowMilliseconds: settings.nowMilliseconds()))
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
