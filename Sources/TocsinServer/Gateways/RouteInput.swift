import GraphQLTransport
import HTTPTypes
package import JSON
import NIOCore
import TocsinHTTP

/// What a client sent to a route: the members of its JSON body, or its query parameters.
package struct RouteInput {
    let members: JSONObject
    /// Whether values are texts whatever they mean, as those of query parameters are.
    let isText: Bool

    /// These members; `isText` for those of a query, which are texts whatever they mean.
    package init(_ members: JSONObject, isText: Bool = false) {
        self.members = members
        self.isText = isText
    }

    /// Reads a request, `GET` by its query and others by their body; an empty
    /// body is an empty object.
    init(_ request: IncomingRequest, limits: JSONLimits) throws(RouteFault) {
        isText = request.method == .get || request.method == .head
        if isText {
            members = try Self.parameters(request.queryString)
        } else {
            members = request.body.readableBytes == 0 ? [:] : try Self.body(request, limits)
        }
    }

    private static func body(_ request: IncomingRequest, _ limits: JSONLimits) throws(RouteFault) -> JSONObject {
        let exchange = HTTPExchange(
            method: .post,
            contentType: request.header("content-type"),
            contentEncoding: request.header("content-encoding")
        )
        if case .failure(let refusal) = exchange.negotiated(), refusal.status == .unsupportedMediaType {
            throw .badRequest(.unsupportedMediaType, refusal.message)
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONParser.parse(Array(request.body.readableBytesView), limits: limits)
        } catch {
            throw .badRequest(.badRequest, "The body is not JSON we accept: \(error).")
        }
        guard case .object(let members) = value else {
            throw .badRequest(.badRequest, "The body must be a JSON object.")
        }
        return members
    }

    private static func parameters(_ query: String) throws(RouteFault) -> JSONObject {
        var members: JSONObject = [:]
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { PercentEncoding.formText($0.utf8) }
            guard let name = parts[0], let value = parts.count > 1 ? parts[1] : "" else {
                throw .badRequest(.badRequest, "The query parameters are not percent-encoded UTF-8.")
            }
            guard members[name] == nil else { throw .badInput("\"\(name.prefix(64))\" is given twice. Give it once.") }
            members[name] = .string(value)
        }
        return members
    }
}
