import GraphQLTransport
import HTTPTypes
import NIOCore

/// The question who may send the body that is coming in.
struct BodyJudgement {
    let request: IncomingRequest
    /// Known once the answer has to be waited for.
    var task: Task<Void, Never>?
}

// What is read, and how far.
extension HTTPConnectionHandler {
    /// Bytes of answers that may wait for the peer before its next request is looked at.
    static var maximumWaitingBytes: Int { 65_536 }
    /// Requests that may wait to be answered.
    private static var maximumRequests: Int { 16 }
    /// Bytes that may wait to be parsed; the system brings more than we asked for when the peer
    /// ends its output.
    private static var maximumUnparsedBytes: Int { 131_072 }

    /// Whether the peer has taken enough of its answers for one more.
    var hasRoom: Bool { writer.inFlightBytes < Self.maximumWaitingBytes }

    /// Whether more is to be parsed now.
    var takesInput: Bool {
        if case .refused = reader.phase { return true }
        let requests = waiting.count + (running == nil ? 0 : 1)
        return judgement == nil && !hasUpgrade && requests < Self.maximumRequests && hasRoom
    }

    /// Takes what the peer sent.
    func received(_ bytes: ByteBuffer) {
        input.append(bytes)
        feed()
        guard input.count > Self.maximumUnparsedBytes else { return }
        context?.close(mode: .all, promise: nil)
    }

    /// Goes on with what waits: answers, then input that was not taken.
    func goOn() {
        startNext()
        if input.count > 0, !isFeeding {
            // As in a read: the loop has other connections.
            hasBegunOne = true
            feed()
            hasBegunOne = false
        }
        if isHoldingRead, takesInput, input.count == 0, let context {
            isHoldingRead = false
            context.read()
        }
        awaitInput()
    }

    private func feed() {
        guard !isFeeding else { return }
        isFeeding = true
        while takesInput, let forward = input.forward, let piece = input.next(for: reader) {
            switch piece {
            case .bytes(let bytes): forward(bytes)
            case .refused(let refusal): refuse(refusal)
            }
        }
        isFeeding = false
        guard input.count == 0 else { return }
        judgeBody()
        input.emptied?()
    }
}

// Who may send a body.
extension HTTPConnectionHandler {
    /// Finds out by the head of a request whether its body is to be read, where it is not there already.
    private func judgeBody() {
        guard judgement == nil, let context, let request = reader.unjudged else { return }
        guard isCounted(request) else { return refuse(.tooManyConnections) }
        judgement = BodyJudgement(request: request)
        // The task is on the connection's loop from its beginning to its end, by its executor's preference.
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        let responder = parts.responder
        let task = Task.immediate(executorPreference: executor) {
            let admission = await responder.admission(of: request)
            handler.value.judged(request, admission)
        }
        // What waits for nothing has been judged by now.
        guard judgement?.request === request else { return }
        judgement?.task = task
        if running == nil, waiting.isEmpty { waitFor(.answer) }
    }

    private func judged(_ request: IncomingRequest, _ admission: BodyAdmission) {
        guard judgement?.request === request else { return }
        judgement = nil
        switch admission {
        case .admitted(let owner):
            guard reader.admit(owner.map(MemoryHolder.owner) ?? .address(reader.client)) else {
                return refuse(.tooMuchMemory)
            }
            registration?.standing = .busy
            if reader.awaitsContinue, running == nil, waiting.isEmpty {
                write(ByteBuffer(staticString: "HTTP/1.1 100 Continue\r\n\r\n"))
            }
        case .refused(var response):
            if !reader.passOver() {
                reader.refuse()
                response.closes = true
            }
            answerUnread(request, with: response)
        }
        goOn()
    }

    func judgementTookTooLong() {
        guard let judgement else { return }
        judgement.task?.cancel()
        self.judgement = nil
        refuse(HTTPRefusal(.serviceUnavailable, HTTPRefusal.tooLong, .timeout))
    }

    /// Counts the connection of a proxy for the client that it names; false where that client has too many.
    func isCounted(_ request: IncomingRequest) -> Bool {
        guard reader.connection.proxies != nil, let client = request.clientAddress?.client, let registration else {
            return true
        }
        // A proxy that names nobody is not counted, as it is not for itself.
        guard client != countedClient, client != reader.connection.peer?.client else { return true }
        guard parts.registry.count(registration, as: client) else { return false }
        countedClient = client
        return true
    }
}

extension HTTPRefusal {
    /// The client's address, or the server, has no more connections.
    static let tooManyConnections = HTTPRefusal(
        .serviceUnavailable,
        "The server has too many connections. Try again.",
        .unavailable
    )
}
