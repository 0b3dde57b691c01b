import JSON

/// Stands in for the push service of a browser, and for the browser too: it decrypts what it is sent.
///
/// A real service could not; it would pass on what its browser then drops in silence.
struct FakeWebPush: WireService {
    let settings: SimulatorSettings
    let browsers: WebPushBrowsers
    let recorder: Recorder

    var opensWithOneStream: Bool { false }
    var maximumStreams: Int { settings.maximumStreams }
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
        let id = String(request.path.dropFirst(request.path.hasPrefix("/push/") ? 6 : request.path.count))
        let location = "\(browsers.origins.first ?? "")/message/\(LowercaseUUID.random())"
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
            record.payload = push.payload
            record.replaceKey = push.topic
            record.deliveryKey = push.payload["notification"]?["data"]?["deliveryId"]?.stringValue
            return try scripted(id, record)
        } catch {
            return refuse(error, record)
        }
    }

    private func scripted(_ id: String, _ record: PushRecord) throws(WebPushRefusal) -> WireReply {
        let effect = recorder.outage(of: .webpush).map(WebPushRule.effect) ?? browsers.rule(for: id)?.effect
        var record = record
        switch effect {
        case nil:
            record.accept(status: 201)
            recorder.add(record)
            return .answer(answer(record))
        case .refusal(let refusal):
            throw refusal
        case .redirect:
            record.refuse(status: 307, reason: "TemporaryRedirect", detail: "scripted")
            recorder.add(record)
            return .answer(WireAnswer(status: 307, headers: [("location", "https://elsewhere.invalid/push/1")]))
        case .wire(let effect):
            return WireFault.reply(effect, settings, record, recorder) { answer(record) }
        }
    }

    private func answer(_ record: PushRecord) -> WireAnswer {
        WireAnswer(status: 201, headers: [("location", record.providerID)])
    }

    private func refuse(_ refusal: WebPushRefusal, _ record: PushRecord) -> WireReply {
        var record = record
        record.refuse(status: refusal.status, reason: refusal.reason, detail: refusal.detail)
        recorder.add(record)
        let body: JSONValue = ["reason": .string(refusal.reason)]
        var answer = WireAnswer(
            status: refusal.status,
            headers: [("content-type", "application/json")],
            body: body.serialized()
        )
        if let seconds = refusal.retryAfterSeconds { answer.headers.append(("retry-after", String(seconds))) }
        return .answer(answer)
    }
}
