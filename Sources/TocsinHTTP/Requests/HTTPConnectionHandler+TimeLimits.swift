import GraphQLTransport
import HTTPTypes
import NIOCore

// Time limits.
extension HTTPConnectionHandler {
    func awaitInput() {
        guard running == nil, wait != .linger, judgement == nil else { return }
        // As long as the peer does not take its answers, the writer's deadline counts.
        guard waiting.isEmpty, hasRoom else { return waitForNothing() }
        switch reader.phase {
        case .body: waitFor(.body)
        case .head:
            standsIdle()
            waitFor(input.hasBegun ? .head : .idle)
        case .refused: break
        }
    }

    /// A stream has its own signs of life.
    func waitForNothing() {
        wait = nil
        deadline.clear()
    }

    /// Sets the deadline of what is waited for now; waiting on for the same thing does not move it.
    func waitFor(_ wait: Wait) {
        guard self.wait != wait else { return }
        self.wait = wait
        let settings = parts.settings
        let milliseconds =
            switch wait {
            case .idle: settings.idleMilliseconds
            case .head: settings.headMilliseconds
            case .body: settings.bodyMilliseconds
            case .answer: settings.answerMilliseconds
            case .linger: settings.lingerMilliseconds
            }
        deadline.move(milliseconds: milliseconds)
    }

    func timeIsUp() {
        switch wait {
        case nil: break
        case .idle, .linger: context?.close(mode: .all, promise: nil)
        case .head:
            guard input.hasBegun else { context?.close(mode: .all, promise: nil); return }
            refuse(HTTPRefusal(.requestTimeout, "The request head did not come in time.", .badRequest))
        case .body where reader.isPassingOver: context?.close(mode: .all, promise: nil)
        case .body: refuse(HTTPRefusal(.requestTimeout, "The request body did not come in time.", .badRequest))
        case .answer:
            guard let running else { return judgementTookTooLong() }
            running.task?.cancel()
            let refusal = HTTPRefusal(.serviceUnavailable, HTTPRefusal.tooLong, .timeout)
            var response = OutgoingResponse(refusal, isRouted: parts.responder.isRouted(running.request.path))
            response.closes = true
            answer(running.request, with: response)
        }
    }
}
