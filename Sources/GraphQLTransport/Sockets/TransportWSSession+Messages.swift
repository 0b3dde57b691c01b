import JSON

// What the client sends.
extension TransportWSSession {
    mutating func received(_ bytes: [UInt8]) -> [SessionAction] {
        let message: JSONValue
        do {
            message = try JSONParser.parse(bytes, limits: limits.request.json)
        } catch {
            return close(.badRequest, "Invalid message: \(error.message)")
        }
        guard case .object(let object) = message else {
            return close(.badRequest, "Invalid message: it must be a JSON object")
        }
        guard let type = object["type"]?.stringValue else {
            return close(.badRequest, "Invalid message: \"type\" must be a string")
        }
        switch TransportWSMessage.Kind(rawValue: type) {
        case .connectionInit: return initialise(object)
        case .ping:
            return withPayload(of: object) { session, payload in session.ping(payload) }
        case .pong: return withPayload(of: object) { _, _ in [] }
        case .subscribe: return subscribe(object)
        case .complete: return complete(object)
        case .connectionAck, .next, .error:
            return close(.badRequest, "Invalid message: \"\(type)\" is sent by servers only")
        case nil: return close(.badRequest, "Invalid message: the type \"\(type)\" is unknown")
        }
    }

    /// Payloads of the connection's own messages are objects, null or absent.
    private mutating func withPayload(
        of message: JSONObject,
        _ use: (inout TransportWSSession, JSONObject?) -> [SessionAction]
    ) -> [SessionAction] {
        switch message["payload"] {
        case nil, .null: use(&self, nil)
        case .object(let payload): use(&self, payload)
        default: close(.badRequest, "Invalid message: \"payload\" must be an object")
        }
    }

    private mutating func initialise(_ message: JSONObject) -> [SessionAction] {
        guard case .opened = phase else {
            return close(.tooManyRequests, "Too many initialisation requests")
        }
        return withPayload(of: message) { session, payload in
            var credentials: Credentials
            do throws(RequestFault) {
                credentials = try session.credentials(in: payload)
            } catch {
                return session.close(.badRequest, "Invalid message: \(error.message)")
            }
            if credentials.isEmpty { credentials = session.upgradeCredentials }
            guard !credentials.isEmpty else { return session.close(.unauthorized, "Unauthorized") }
            session.phase = .authenticating
            return [.cancelTimer(.initialisation), .authenticate(credentials)]
        }
    }

    /// What a payload says of who its sender is.
    func credentials(in payload: JSONObject?) throws(RequestFault) -> Credentials {
        Credentials(
            authorization: try Self.text(payload, "Authorization", "authorization"),
            apiKey: try Self.text(payload, "x-api-key", "apiKey"),
            remoteAddress: upgradeCredentials.remoteAddress
        )
    }

    /// The first of these members that is there.
    private static func text(_ payload: JSONObject?, _ names: String...) throws(RequestFault) -> String? {
        for name in names {
            switch payload?[name] {
            case nil, .null: continue
            case .string(let text): return text
            default: throw RequestFault("\"payload.\(name)\" must be a string")
            }
        }
        return nil
    }

    private mutating func subscribe(_ message: JSONObject) -> [SessionAction] {
        guard case .ready = phase else { return close(.unauthorized, "Unauthorized") }
        guard let id = id(of: message) else { return closeForID() }
        guard case .object(let payload) = message["payload"] else {
            return close(.badRequest, "Invalid message: \"payload\" must be an object")
        }
        let request: GraphQLRequest
        do {
            request = try GraphQLRequest.parse(payload, limits: limits.request)
        } catch {
            return close(.badRequest, "Invalid message: \(error.message)")
        }
        do throws(OperationSlots.Fault) {
            let number = try slots.open(id, nextHead: TransportWSMessage.payloadHead(.next, id: id))
            return [.start(number, OperationStart(request))]
        } catch {
            return refuse(id, error)
        }
    }

    private mutating func refuse(_ id: String, _ fault: OperationSlots.Fault) -> [SessionAction] {
        switch fault {
        case .idInUse: return close(.subscriberExists, "Subscriber for \(id) already exists")
        case .full(let count):
            let message = "This connection runs \(count) operations already; complete one first."
            let errors = ErrorBody.errors(message, code: .limit)
            return [.send(TransportWSMessage.message(.error, id: id, payload: errors))]
        }
    }

    private mutating func complete(_ message: JSONObject) -> [SessionAction] {
        guard let id = id(of: message) else { return closeForID() }
        guard let operation = slots.operation(named: id) else { return [] }
        _ = slots.close(operation.number)
        return [.cancel(operation.number)] + slots.releasePongs()
    }

    private func id(of message: JSONObject) -> String? {
        guard let id = message["id"]?.stringValue, !id.isEmpty, id.utf8.count <= limits.maximumIDBytes else {
            return nil
        }
        return id
    }

    private mutating func closeForID() -> [SessionAction] {
        close(.badRequest, "Invalid message: \"id\" must be a string of 1 to \(limits.maximumIDBytes) bytes")
    }
}
