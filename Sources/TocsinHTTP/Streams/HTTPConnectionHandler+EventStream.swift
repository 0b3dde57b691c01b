import GraphQLTransport
import HTTPTypes
import NIOCore

extension HTTPConnectionHandler {
    /// Answers with a stream; requests behind it wait until it ends.
    func begin(_ opening: EventStreamOpening<Service.Caller>, for request: IncomingRequest) {
        guard let context else { return }
        let response = opening.response
        let traits = traits(of: request, response)
        guard request.method != .head else { return answer(request, with: response) }
        let stream = EventStream(
            opening,
            parts,
            writer,
            loop: context.eventLoop,
            isChunked: !request.isHTTP10
        )
        guard stream.admit(opening.caller) else {
            let message = "You have too many event streams and sockets open. Close one first."
            return answer(request, with: OutgoingResponse(HTTPRefusal(.tooManyRequests, message, .limit)))
        }
        AccessLog(logger: parts.logger).record(request, response)
        self.stream = stream
        waitForNothing()
        let head = response.serialized(for: traits, date: parts.date.text, allocator: context.channel.allocator)
        stream.start(head, context) { [self] in ended(traits) }
        if parts.registry.isStopping { stream.shutdown() }
    }

    private func ended(_ traits: RequestTraits) {
        stream = nil
        finished(keepsAlive: traits.keepsAlive && !parts.registry.isStopping)
    }
}
