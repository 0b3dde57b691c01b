import JSON
import TocsinCore

/// A request as a template sees it.
struct TemplateInput {
    let scope: TemplateScope
    /// Why the body is no JSON, where its type says that it is.
    let trouble: String?

    /// Members of a form that hold the whole JSON: Uptime Kuma's, and those of GitHub and Slack.
    private static let wrappers = ["data", "payload"]

    init(_ request: ReceiverRequest, in context: ReceiverContext) {
        self.init(request, integration: context.integration.name, sha256: context.sha256)
    }

    init(_ request: ReceiverRequest, integration: String, sha256: @escaping @Sendable ([UInt8]) -> [UInt8]) {
        var scope = TemplateScope(sha256: sha256)
        scope.body = String(decoding: request.body, as: UTF8.self)
        var headers: [String: JSONValue] = [:]
        for item in request.headers where headers[item.name.lowercased()] == nil {
            headers[item.name.lowercased()] = .string(item.value)
        }
        let rest = request.rest.enumerated().map { (String($0.offset + 1), JSONValue.string($0.element)) }
        scope.groups = [
            "header": headers, "query": Self.group(request.query),
            "path": Dictionary(rest, uniquingKeysWith: { first, _ in first }),
            "integration": ["name": .string(integration)],
        ]
        scope.variables["now"] = .string(request.receivedAt.iso8601)
        if request.isForm {
            let form = request.form
            scope.groups["form"] = Self.group(form)
            scope.document = Self.document(of: form)
            trouble = nil
        } else {
            let read = Self.parsed(request.body)
            if case .success(let value) = read { scope.document = value }
            if case .failure(let error) = read, request.mediaType.hasSuffix("json"), !request.body.isEmpty {
                trouble = "the body is no JSON: \(error)"
            } else {
                trouble = nil
            }
        }
        self.scope = scope
    }

    private static func group(_ items: [ReceiverRequest.Item]) -> [String: JSONValue] {
        Dictionary(items.map { ($0.name, .string($0.value)) }, uniquingKeysWith: { first, _ in first })
    }

    private static func document(of form: [ReceiverRequest.Item]) -> JSONValue {
        for item in form where wrappers.contains(item.name) {
            if case .success(let value) = parsed(Array(item.value.utf8)), value.objectValue != nil { return value }
        }
        return .object(JSONObject(form.map { ($0.name, .string($0.value)) }))
    }

    private static func parsed(_ bytes: [UInt8]) -> Result<JSONValue, JSONError> {
        Result { () throws(JSONError) in try LenientJSON.parse(bytes) }
    }
}
