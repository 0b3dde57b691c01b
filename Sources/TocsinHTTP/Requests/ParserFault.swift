import GraphQLTransport
import HTTPTypes
import NIOHTTP1

extension HTTPRefusal {
    /// The answer to bytes the parser does not take; `nil` when nobody waits for one.
    static func refusal(of error: any Error, _ input: RawInput, _ settings: HTTPServerSettings) -> HTTPRefusal? {
        guard let error = error as? HTTPParserError else { return nil }
        let message: String
        switch error {
        case .headerOverflow:
            return input.lineBytes > settings.maximumTargetBytes ? targetTooLong(settings) : headTooLarge(settings)
        case .invalidEOFState, .closedConnection: return nil
        case .invalidVersion: message = "Only HTTP/1.1 and HTTP/1.0 are spoken, with CR LF at the ends of lines."
        case .invalidMethod: message = "This method is unknown."
        default: message = "The request is not well-formed HTTP/1.1."
        }
        return HTTPRefusal(.badRequest, message, .badRequest)
    }
}
