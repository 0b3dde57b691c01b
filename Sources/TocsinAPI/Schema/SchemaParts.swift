import GraphQL
import TocsinCore

/// The team's model file beside our own parts, as many of them as it leaves room for.
///
/// Many an app has a model `User`, `Group` or `Incident`: it keeps it, and our part of that name is
/// left out as a whole.
struct SchemaParts {
    let models: ModelReader.Models
    let extras: OwnFields
    let own: String
    /// Why people and groups are left out; nil: they are there.
    let peopleConflict: String?
    /// Why incidents are left out; nil: they are there.
    let incidentConflict: String?

    /// The whole, or what is left without the parts that are in the file's way.
    static func reading(_ text: String, file: String) throws(SchemaProblems) -> SchemaParts {
        let conflict: String
        do {
            return try SchemaParts(text, file, without: (people: nil, incidents: nil))
        } catch {
            conflict = error.description
        }
        for left in [(people: conflict, incidents: nil), (people: nil, incidents: conflict)] as [Left] {
            if let parts = try? SchemaParts(text, file, without: left) { return parts }
        }
        return try SchemaParts(text, file, without: (people: conflict, incidents: conflict))
    }

    /// Why a part is left out; nil where it is not.
    private typealias Left = (people: String?, incidents: String?)

    private init(_ text: String, _ file: String, without left: Left) throws(SchemaProblems) {
        var names = ["tocsin.graphql"]
        if left.people == nil { names.append("people.graphql") }
        if left.incidents == nil { names += ["incidents.graphql", "integrations.graphql", "monitors.graphql"] }
        own = names.map(APISchema.embedded).joined(separator: "\n")
        extras = try OwnFields.read(own)
        let shipped = left.incidents == nil ? "\n" + APISchema.embedded("oncall.graphql") : ""
        let read = try ModelReader.read(text + shipped, file: file, own: extras)
        models = left.incidents == nil ? ShippedModels.adopted(read) : read
        (peopleConflict, incidentConflict) = left
    }
}
