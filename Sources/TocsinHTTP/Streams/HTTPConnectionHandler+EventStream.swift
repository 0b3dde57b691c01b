import GraphQLTransport
import HTTPTypes
import Metrics
import NIOCore

extension HTTPConnectionHandler {
    /// Answers with a stream; requests behind it wait until it ends.
    func begin(_ opening: EventStreamOpening<Service.Caller>, for request: IncomingRequest) {
        guard let context else { return }
        let response = opening.response
        let traits = traits(of: request, response)
        guard request.method != .head else { return answer(request, with: response) }
        let stream = EventStream(opening, parts, writer, loop: context.eventLoop, for: request)
        guard stream.admit(opening.caller) else {
            let message = "You have too many event streams and sockets open. Close one first."
            return answer(request, with: OutgoingResponse(HTTPRefusal(.tooManyRequests, message, .limit)))
        }
        parts.accessLog.record(request, response)
        count(request, response)
        parts.settings.metrics?.opened[.stream].add()
        self.stream = stream
        waitForNothing()
        let date = parts.date.text
        var head = ByteBuffer()
        head.writeWithUnsafeMutableBytes(minimumWritableBytes: response.room(for: traits, date)) {
            response.write(into: $0, for: traits, date)
        }
        stream.start(head, context) { [self] in ended(traits) }
        if parts.registry.isStopping { stream.shutdown() }
    }

    private func ended(_ traits: RequestTraits) {
        stream = nil
        finished(keepsAlive: traits.keepsAlive && !parts.registry.isEnding)
    }
}
