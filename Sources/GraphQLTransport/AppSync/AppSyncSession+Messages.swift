import JSON

// What the client sends.
extension AppSyncSession {
    mutating func received(_ bytes: [UInt8]) -> [SessionAction] {
        guard let json = try? JSONParser.parse(bytes, limits: limits.request.json), case .object(let message) = json
        else { return close(.badRequest, "Invalid message: it must be a JSON object") }
        if case .authenticating(var waiting, let size) = phase {
            // Clients that do not wait for the acknowledgement begin at once; nobody is known
            // yet, so not much is kept.
            guard waiting.count <= limits.maximumOperations, size + bytes.count <= Self.mostWaitingBytes else {
                return close(.badRequest, "Too many messages before the acknowledgement")
            }
            waiting.append(message)
            phase = .authenticating(waiting, bytes: size + bytes.count)
            return []
        }
        return received(message)
    }

    private static let mostWaitingBytes = 65_536

    mutating func received(_ message: JSONObject) -> [SessionAction] {
        let type = message["type"]?.stringValue
        switch type.flatMap(AppSyncMessage.Kind.init) {
        case .connectionInit:
            let timeout = limits.connectionTimeoutMilliseconds
            return [.send(AppSyncMessage.acknowledgement(timeoutMilliseconds: timeout))] + introduced()
        case .start: return introduced() + start(message)
        case .stop: return stop(message)
        default:
            return [unsupported(message, "\(type ?? "unknown") not supported through the realtime channel")]
        }
    }

    /// The first sign of life goes out with the first message that is answered.
    private mutating func introduced() -> [SessionAction] {
        guard !isIntroduced else { return [] }
        isIntroduced = true
        return [.cancelTimer(.initialisation)] + keepAlive
    }

    private mutating func start(_ message: JSONObject) -> [SessionAction] {
        guard let id = id(of: message) else {
            return [unsupported(message, "\"id\" must be a string of 1 to \(limits.maximumIDBytes) bytes")]
        }
        let operation: OperationStart
        do throws(RequestFault) {
            operation = try self.operation(of: message)
        } catch {
            return [unsupported(message, error.message)]
        }
        guard operation.credentials != nil || !connectionHasEnded else {
            return [.send(AppSyncMessage.error(id: id, .unauthorized, "Token has expired."))]
        }
        do throws(OperationSlots.Fault) {
            let number = try slots.open(
                id,
                nextHead: AppSyncMessage.dataHead(id: id),
                hasOwnCredentials: operation.credentials != nil
            )
            return [.start(number, operation)]
        } catch {
            return [.send(Self.refusal(of: id, error))]
        }
    }

    private static func refusal(of id: String, _ fault: OperationSlots.Fault) -> SocketMessage {
        switch fault {
        case .idInUse:
            AppSyncMessage.error(id: id, .badRequest, "A subscription of this id runs already; give each its own id.")
        case .full(let count):
            AppSyncMessage.error(id: id, .tooManySubscriptions, "This connection runs \(count) subscriptions already.")
        }
    }

    /// `payload.data` is a text of JSON with the request;
    /// `payload.extensions.authorization` says who asks.
    private func operation(of message: JSONObject) throws(RequestFault) -> OperationStart {
        guard case .object(let payload)? = message["payload"], case .string(let data)? = payload["data"] else {
            throw RequestFault("\"payload.data\" must be a string with the request as JSON")
        }
        var operation = OperationStart(
            try GraphQLRequest.parse(body: data.utf8, limits: limits.request),
            isSubscriptionOnly: true,
            options: SubscribeOptions(style: .appSync)
        )
        switch payload["extensions"]?["authorization"] {
        case nil, .null: break
        case .object(let authorization):
            guard var credentials = Credentials(appSync: authorization) else { fallthrough }
            if case .credentials(let connection) = handshake { credentials.remoteAddress = connection.remoteAddress }
            if !credentials.isEmpty { operation.credentials = credentials }
        default: throw RequestFault("\"payload.extensions.authorization\" must be an object of strings")
        }
        return operation
    }

    /// Some clients fail when they hear of an operation they have forgotten: an
    /// unknown id gets no answer.
    private mutating func stop(_ message: JSONObject) -> [SessionAction] {
        guard let id = message["id"]?.stringValue, let operation = slots.operation(named: id) else { return [] }
        return [.cancel(operation.number)] + finish(operation.number, .completed) + closeIfOver()
    }

    private func unsupported(_ message: JSONObject, _ reason: String) -> SessionAction {
        .send(AppSyncMessage.error(id: id(of: message) ?? "", .unsupported, reason))
    }

    private func id(of message: JSONObject) -> String? {
        guard let id = message["id"]?.stringValue, !id.isEmpty, id.utf8.count <= limits.maximumIDBytes else {
            return nil
        }
        return id
    }
}
