import JSON

/// The control listener: what was counted, kept and shown, and everything that can
/// be done to the providers.
struct ControlService: WireService {
    let controls: ProviderControls
    let providerTokens: ProviderTokenRules
    let accessTokens: AccessTokens
    let browsers: WebPushBrowsers

    var opensWithOneStream: Bool { false }
    var limits: SimulatorLimits.Wire { SimulatorLimits.Wire(streams: 100) }
    var readsHeaders: Bool { true }

    private var recorder: Recorder { controls.recorder }

    func connectionOpened() -> WireConnection { WireConnection(id: 0) }
    func connectionClosed(_ connection: WireConnection) {}
    func streamsOpen(_ count: Int) {}

    func reply(to request: WireRequest, on connection: inout WireConnection) -> WireReply {
        let parts = request.path.split(separator: "?", maxSplits: 1)
        let query = FormFields.parse(Array((parts.count == 2 ? parts[1] : "").utf8))
        do throws(ScriptError) {
            switch (request.method, parts.first ?? "") {
            case ("GET", "/"): return Self.text(ControlHelp.text)
            case ("GET", "/healthz"): return Self.text("ok\n")
            case ("GET", "/_stats"): return json(stats)
            case ("GET", "/_pushes"): return try pushes(query)
            case ("GET", "/_screens"): return json(recorder.screens)
            case ("GET", "/_screen"): return try screen(query)
            case ("GET", "/_script"): return json(controls.conditions.json)
            case ("POST", "/_script"): return try apply(request.body)
            case ("POST", "/_outage"): return try setOutage(query)
            case ("POST", "/_connections"): return try tellConnections(query)
            case ("POST", "/_phone"): return try setPhone(query)
            case ("POST", "/_subscribe"): return try subscribe(query)
            case ("POST", "/_expire"):
                accessTokens.endAll()
                return json(stats)
            case ("POST", "/_reset"):
                controls.reset()
                return json(stats)
            case ("POST", "/token"): return .answer(accessTokens.answer(request))
            default: return json(["error": .string("Unknown request.\n\(ControlHelp.text)")], status: 404)
            }
        } catch {
            return json(["error": .string(error.description)], status: 400)
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
            "browsers": browsers.json,
        ]
    }

    private func pushes(_ query: [String: String]) throws(ScriptError) -> WireReply {
        guard let sequence = Int(query["since"] ?? "0"), let limit = Int(query["limit"] ?? "\(Int.max)"), limit >= 0
        else { throw ScriptError("since and limit must be numbers, as in /_pushes?since=12&limit=100.") }
        return json(.array(recorder.pushes(since: sequence, limit: limit).map(\.json)))
    }

    private func screen(_ query: [String: String]) throws(ScriptError) -> WireReply {
        guard let token = query["token"] else { throw ScriptError("Name the phone, as in /_screen?token=a1a1…") }
        return recorder.screen(of: token).map { json($0) }
            ?? json(["error": "No push was ever sent to this phone."], status: 404)
    }

    private func apply(_ body: [UInt8]) throws(ScriptError) -> WireReply {
        controls.apply(try SimulatorScript(text: body))
        return json(controls.conditions.json)
    }

    /// A browser subscribes: answers its subscription as a page would send it to a server.
    private func subscribe(_ query: [String: String]) throws(ScriptError) -> WireReply {
        do throws(SimulatorError) {
            return json(try browsers.subscribe(script: query["script"], serverKey: query["key"]))
        } catch {
            throw ScriptError(error.description)
        }
    }

    private func setOutage(_ query: [String: String]) throws(ScriptError) -> WireReply {
        let kind = query["kind"].flatMap(Outage.init(rawValue:))
        guard let provider = query["provider"].flatMap(SimulatedProvider.init(rawValue:)),
            kind != nil || query["kind"] == "none"
        else {
            let providers = SimulatedProvider.allCases.map(\.rawValue).joined(separator: ", ")
            let kinds = Outage.allCases.map(\.rawValue).joined(separator: ", ")
            throw ScriptError("provider is one of \(providers), and kind one of none, \(kinds).")
        }
        let seconds = try Self.seconds(query["seconds"])
        controls.setOutage(kind, of: provider, seconds: seconds)
        return json(["provider": .string(provider.rawValue), "outage": kind.map { .string($0.rawValue) } ?? .null])
    }

    private static func seconds(_ text: String?) throws(ScriptError) -> Double? {
        guard let text else { return nil }
        guard let seconds = Double(text), (0...1e6).contains(seconds) else {
            throw ScriptError("seconds must be a number from 0 on.")
        }
        return seconds
    }

    private func tellConnections(_ query: [String: String]) throws(ScriptError) -> WireReply {
        let provider = query["provider"].flatMap(SimulatedProvider.init(rawValue:))
        guard let provider, provider != .token else { throw ScriptError("provider is apns or fcm.") }
        let order: ConnectionOrder
        switch query["do"] {
        case "goaway":
            let last = query["lastStream"].flatMap { Int32($0) }
            guard query["lastStream"] == nil || last != nil else { throw ScriptError("lastStream must be a number.") }
            order = .goAway(GoAway(lastStream: last, reason: query["reason"] ?? "Shutdown"))
        case "cut": order = .cut
        default: throw ScriptError("do is goaway (with reason and lastStream, if you like) or cut.")
        }
        return json(["connections": .int(Int64(controls.tell(order, to: provider)))])
    }

    private func setPhone(_ query: [String: String]) throws(ScriptError) -> WireReply {
        guard let token = query["token"], let state = query["state"], ["online", "offline"].contains(state) else {
            throw ScriptError("Name the phone and its state, as in /_phone?token=a1a1…&state=offline (or online).")
        }
        controls.setOnline(state == "online", token: token)
        return json(recorder.screen(of: token) ?? .null)
    }

    private static func text(_ text: String) -> WireReply {
        .answer(WireAnswer(status: 200, headers: [("content-type", "text/plain")], body: Array(text.utf8)))
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
