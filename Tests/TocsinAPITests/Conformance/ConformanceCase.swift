import Foundation
import JSON
import TestDatabases
import Testing
import TocsinCore
import TocsinStore

/// A kind of database that the cases run on.
struct APIDatabase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable () throws -> any SQLDatabase

    static let available = [
        APIDatabase(testDescription: AnyDatabase.isPostgres ? "PostgreSQL" : "SQLite") { try AnyDatabase.make() }
    ]
}

/// One case of `cases/*.json`, whose format is in `cases/README.md`: steps that one installation
/// takes one after the other.
struct ConformanceCase: Sendable, CustomTestStringConvertible {
    let file: String
    let name: String
    /// The text of the model file; nil: the shipped one.
    let model: String?
    let settings: ModelSettings
    let documents: JSONObject
    let steps: [JSONValue]

    var testDescription: String { "\(file): \(name)" }

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "cases")

    /// All cases of all files; a file that cannot be read fails the suite that asks for them.
    static func all() throws -> [ConformanceCase] {
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
        let shared = folder.appending(path: "shared/documents.json")
        let documents = try JSONParser.parse([UInt8](Data(contentsOf: shared))).objectValue ?? [:]
        return try files.flatMap { try read($0, documents) }
    }

    private static func read(_ file: URL, _ shared: JSONObject) throws -> [ConformanceCase] {
        let content = try JSONParser.parse([UInt8](Data(contentsOf: file)))
        let modelName = content["model"]?.stringValue
        var documents = shared
        for document in content["documents"]?.objectValue ?? [:] { documents[document.key] = document.value }
        let known = documents
        return try (content["cases"]?.arrayValue ?? []).map { value in
            ConformanceCase(
                file: file.deletingPathExtension().lastPathComponent,
                name: value["name"]?.stringValue ?? "without a name",
                model: try (value["model"]?.stringValue ?? modelName).flatMap(model),
                settings: settings(value["settings"] ?? content["settings"]),
                documents: known,
                steps: value["steps"]?.arrayValue ?? []
            )
        }
    }

    private static func model(_ name: String) throws -> String? {
        if name == "shipped" { return nil }
        return try String(contentsOf: folder.appending(path: "models/\(name).graphql"), encoding: .utf8)
    }

    private static func settings(_ value: JSONValue?) -> ModelSettings {
        var settings = ModelSettings()
        if let handler = value?["conflictHandler"]?.stringValue.flatMap(ModelSettings.ConflictHandler.init(rawValue:)) {
            settings.conflictHandler = handler
        }
        if let takes = value?["takesAbsentVersion"]?.boolValue { settings.takesAbsentVersion = takes }
        if let hides = value?["hidesDeleted"]?.boolValue { settings.hidesDeleted = hides }
        if let seconds = value?["deltaSeconds"]?.doubleValue { settings.deltaSeconds = seconds }
        if let seconds = value?["tombstoneSeconds"]?.doubleValue { settings.tombstoneSeconds = seconds }
        return settings
    }
}
