import JSON
import Synchronization

/// The receivers that are written as data: those that ship, and the operator's own, which stand in
/// place of shipped ones of the same name.
package final class ReceiverCatalog: Sendable {
    /// One receiver, and whether it is of the operator's file.
    package struct Entry: Sendable {
        /// The receiver.
        package let template: ReceiverTemplate
        /// Whether the operator wrote it.
        package let isOwn: Bool
    }

    /// In the order of names.
    package let entries: [Entry]
    private let byName: [String: ReceiverTemplate]
    private let zones: ZoneLookup
    /// Templates of integrations by their texts: each is compiled once.
    private let compiled = Mutex<[String: Result<ReceiverTemplate, TemplateProblem>]>([:])

    private static let maximumCompiled = 256
    /// The longest template of an integration, in bytes.
    package static let maximumTemplateBytes = 64 << 10

    /// A catalog of both; `zones` are for what integrations write themselves.
    package init(shipped: [ReceiverTemplate], own: [ReceiverTemplate], zones: @escaping ZoneLookup) {
        let names = Set(own.map(\.name))
        let all =
            own.map { Entry(template: $0, isOwn: true) }
            + shipped.filter { !names.contains($0.name) }.map { Entry(template: $0, isOwn: false) }
        entries = all.sorted { $0.template.name < $1.template.name }
        byName = Dictionary(all.map { ($0.template.name, $0.template) }, uniquingKeysWith: { first, _ in first })
        self.zones = zones
    }

    /// All names in order.
    package var names: [String] { entries.map(\.template.name) }

    /// The receiver of an integration: its own template, or else the one that it names.
    ///
    /// Throws what is wrong with either, and what to write instead.
    ///
    /// - Parameter isKept: Whether a template that was compiled is kept for the next time.
    package func receiver(
        named name: String?,
        template: String?,
        isKept: Bool = true
    ) throws(TemplateProblem) -> TemplateReceiver {
        if let template {
            return TemplateReceiver(try isKept ? self.template(of: template) : compile(template))
        }
        guard let name else {
            throw TemplateProblem("the kind TEMPLATE needs \"receiver\", the name of one that ships, or \"template\"")
        }
        guard let found = byName[name] else {
            throw TemplateProblem("there is no receiver \"\(name)\". Known are \(names.joined(separator: ", "))")
        }
        return TemplateReceiver(found)
    }

    private func template(of text: String) throws(TemplateProblem) -> ReceiverTemplate {
        if let known = compiled.withLock({ $0[text] }) { return try known.get() }
        let result = Result { () throws(TemplateProblem) in try compile(text) }
        compiled.withLock { compiled in
            if compiled.count >= Self.maximumCompiled { compiled.removeAll() }
            compiled[text] = result
        }
        return try result.get()
    }

    private func compile(_ text: String) throws(TemplateProblem) -> ReceiverTemplate {
        guard text.utf8.count <= Self.maximumTemplateBytes else {
            throw TemplateProblem(
                "a template has at most \(Self.maximumTemplateBytes) bytes; this one has \(text.utf8.count)"
            )
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONParser.parse(text)
        } catch {
            throw TemplateProblem("the template is not JSON: \(error)")
        }
        return try ReceiverTemplate(value, zones: zones)
    }
}
