import JSON

/// Stands in for the push service of a browser, and for the browser too: it
/// decrypts what it is sent.
///
/// A real service could not; it would pass on what its browser then drops in silence, as this one
/// does for real browsers.
struct FakeWebPush: WireService {
    let settings: SimulatorSettings
    let browsers: WebPushBrowsers
    let conditions: Conditions
    let recorder: Recorder

    var opensWithOneStream: Bool { false }
    var limits: SimulatorLimits.Wire { SimulatorLimits.Wire(streams: settings.maximumStreams) }
    var readsHeaders: Bool { settings.recording }

    func connectionOpened() -> WireConnection {
        var connection = recorder.makeConnection()
        recorder.count(&connection, .webpush)
        return connection
    }

    func connectionClosed(_ connection: WireConnection) { recorder.connectionClosed(connection, .webpush) }
    func streamsOpen(_ count: Int) { recorder.streamsOpen(count, .webpush) }

    func reply(to request: WireRequest, on connection: inout WireConnection) -> WireReply {
        guard settings.recording else {
            recorder.acceptedUnread(.webpush)
            return .answer(WireAnswer(status: 201))
        }
        connection.requests += 1
        let id = request.path.hasPrefix("/push/") ? String(request.path.dropFirst("/push/".count)) : ""
        let location = "\(browsers.origins.first ?? "")/message/\(recorder.makeID())"
        var record = PushRecord(.webpush, connection: connection.id, request: request, providerID: location)
        record.token = id
        do throws(WebPushRefusal) {
            guard request.method == "POST" else {
                throw WebPushRefusal(405, "MethodNotAllowed", "the method is not POST")
            }
            guard !id.isEmpty else { throw WebPushRefusal(404, "NotFound", "the path is not /push/<subscription>") }
            guard let browser = browsers.browser(id) else {
                throw WebPushRefusal(410, "Unsubscribed", "no browser of this run has this subscription")
            }
            let push = try WebPushRequest(
                request,
                to: browser,
                origins: browsers.origins,
                nowSeconds: settings.nowMilliseconds() / 1000
            )
            record.body = push.plaintext ?? []
            record.replaceKey = push.topic
            record.deliveryKey = push.deliveryKey
            let effect = conditions.effect(for: id, of: .webpush, request: connection.requests)
            return try play(effect, record) { record in
                recorder.add(record, push.arrival(nowMilliseconds: settings.nowMilliseconds()))
                if record.isAccepted { browsers.pass(push, request.body, id: recorder.makeID(), to: browser) }
            }
        } catch {
            return refuse(error, record)
        }
    }

    private func play(
        _ effect: ScriptEffect?,
        _ record: PushRecord,
        keep: (PushRecord) -> Void
    ) throws(WebPushRefusal) -> WireReply {
        var record = record
        switch effect {
        case .webPush(let refusal): throw refusal
        case .late(let effect, let seconds): return try play(effect, record, keep: keep).delayed(seconds: seconds)
        case .wire(let fault):
            record.meet(fault)
            keep(record)
            return fault.reply(slowSeconds: conditions.limits.lateSeconds) { answer(record) }
        case nil, .apns, .unregistered, .unheardReason, .shutdown, .fcm:
            record.accept(status: 201)
            keep(record)
            return .answer(answer(record))
        }
    }

    private func answer(_ record: PushRecord) -> WireAnswer {
        WireAnswer(status: 201, headers: [("location", record.providerID)])
    }

    private func refuse(_ refusal: WebPushRefusal, _ record: PushRecord) -> WireReply {
        var record = record
        record.refuse(status: refusal.status, reason: refusal.reason, detail: refusal.detail)
        recorder.add(record, nil)
        let body: JSONValue = ["reason": .string(refusal.reason)]
        var answer = WireAnswer(
            status: refusal.status,
            headers: [("content-type", "application/json")],
            body: body.serialized()
        )
        if let seconds = refusal.retryAfterSeconds { answer.headers.append(("retry-after", String(seconds))) }
        if let location = refusal.location { answer.headers.append(("location", location)) }
        return .answer(answer)
    }
}
