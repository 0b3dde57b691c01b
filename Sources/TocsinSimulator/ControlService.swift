import JSON

/// The control listener: what was counted and kept, for people and tests.
struct ControlService: WireService {
    let recorder: Recorder
    let providerTokens: ProviderTokenRules
    let accessTokens: AccessTokens
    let browsers: WebPushBrowsers

    var opensWithOneStream: Bool { false }
    var maximumStreams: Int { 100 }
    var readsHeaders: Bool { true }

    func connectionOpened() -> WireConnection { WireConnection(id: 0) }
    func connectionClosed(_ connection: WireConnection) {}
    func streamsOpen(_ count: Int) {}

    func reply(to request: WireRequest, on connection: inout WireConnection) -> WireReply {
        let parts = request.path.split(separator: "?", maxSplits: 1)
        switch (request.method, parts.first ?? "") {
        case ("GET", "/healthz"):
            return .answer(WireAnswer(status: 200, headers: [("content-type", "text/plain")], body: Array("ok\n".utf8)))
        case ("GET", "/_stats"):
            return json(stats)
        case ("GET", "/_pushes"):
            return pushes(query: parts.count == 2 ? String(parts[1]) : "")
        case ("POST", "/_reset"):
            recorder.reset()
            return json(stats)
        case ("POST", "/_outage"):
            return setOutage(query: parts.count == 2 ? String(parts[1]) : "")
        case ("POST", "/_subscribe"):
            return subscribe(query: parts.count == 2 ? String(parts[1]) : "")
        case ("POST", "/token"):
            return .answer(accessTokens.answer(request))
        default:
            let known =
                "GET /_stats, GET /_pushes?since=N, POST /_reset, "
                + "POST /_outage?provider=P&kind=K, POST /_subscribe?script=S, POST /token, GET /healthz"
            return json(["error": .string("Unknown request. Known are: \(known).")], status: 404)
        }
    }

    var stats: JSONValue {
        var apns = recorder.counts(.apns).json
        apns["providerTokens"] = .int(Int64(providerTokens.count))
        return [
            "sequence": .int(Int64(recorder.lastSequence)),
            "apns": .object(apns),
            "fcm": .object(recorder.counts(.fcm).json),
            "token": .object(accessTokens.json),
            "webpush": .object(recorder.counts(.webpush).json),
        ]
    }

    private func pushes(query: String) -> WireReply {
        let fields = FormFields.parse(Array(query.utf8))
        guard let sequence = Int(fields["since"] ?? "0") else {
            return json(["error": "since must be a sequence number, as in /_pushes?since=12."], status: 400)
        }
        return json(.array(recorder.pushes(since: sequence).map(\.json)))
    }

    /// A browser subscribes: answers its subscription as a page would send it to a server.
    private func subscribe(query: String) -> WireReply {
        let fields = FormFields.parse(Array(query.utf8))
        do throws(SimulatorError) {
            return json(try browsers.subscribe(script: fields["script"], serverKey: fields["key"]))
        } catch {
            return json(["error": .string(error.description)], status: 500)
        }
    }

    private func setOutage(query: String) -> WireReply {
        let fields = FormFields.parse(Array(query.utf8))
        let kind = fields["kind"].flatMap(Outage.init(rawValue:))
        guard let provider = fields["provider"].flatMap(SimulatedProvider.init(rawValue:)),
            kind != nil || fields["kind"] == "none"
        else {
            let providers = SimulatedProvider.allCases.map(\.rawValue).joined(separator: ", ")
            let kinds = Outage.allCases.map(\.rawValue).joined(separator: ", ")
            let text = "provider is one of \(providers), and kind one of none, \(kinds)."
            return json(["error": .string(text)], status: 400)
        }
        recorder.setOutage(kind, of: provider)
        return json(["provider": .string(provider.rawValue), "outage": kind.map { .string($0.rawValue) } ?? .null])
    }

    private func json(_ value: JSONValue, status: Int = 200) -> WireReply {
        .answer(
            WireAnswer(
                status: status,
                headers: [("content-type", "application/json")],
                body: value.serialized() + [UInt8(ascii: "\n")]
            )
        )
    }
}
