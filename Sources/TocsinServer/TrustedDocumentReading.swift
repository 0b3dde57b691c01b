import FoundationEssentials
import GraphQL
import TocsinAPI

/// Reads the documents that are known before the first request, and refuses the
/// start if one cannot be run.
struct TrustedDocumentReading {
    private let hash: DocumentHash
    private let executor: ResponseExecutor
    private var documents = TrustedDocuments()
    private var problems: [String] = []

    private static let maximumFiles = 10_000
    private static let maximumFileBytes = 64_000_000
    /// Problems that are told at once.
    private static let maximumProblems = 50

    init(hash: @escaping DocumentHash, executor: ResponseExecutor) {
        self.hash = hash
        self.executor = executor
    }

    /// The documents of a folder's `.graphql` files and manifests, or of one such file.
    mutating func documents(at path: String) throws(StartError) -> TrustedDocuments {
        for file in try files(at: path) where problems.count < Self.maximumProblems { read(file) }
        if problems.isEmpty, documents.count == 0 {
            problems.append("\(path) holds no documents: put .graphql files or a manifest (.json) there.")
        }
        guard problems.isEmpty else {
            throw StartError(
                "The trusted documents cannot be used. Correct them, or take them out of TOCSIN_TRUSTED_DOCUMENTS:\n"
                    + problems.prefix(Self.maximumProblems).map { "  - " + $0 }.joined(separator: "\n")
            )
        }
        return documents
    }

    private func files(at path: String) throws(StartError) -> [String] {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw StartError("TOCSIN_TRUSTED_DOCUMENTS: there is no file or folder \(path). Make it, or mend the path.")
        }
        guard isFolder else { return [path] }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw StartError("TOCSIN_TRUSTED_DOCUMENTS: \(path) cannot be listed. May this user read it?")
        }
        let files = names.filter { !$0.hasPrefix(".") && Kind(path: $0) != nil }.sorted()
        guard files.count <= Self.maximumFiles else {
            throw StartError(
                "TOCSIN_TRUSTED_DOCUMENTS: \(path) holds \(files.count) files; at most \(Self.maximumFiles) are read. "
                    + "Put the documents into a manifest."
            )
        }
        return files.map { path + "/" + $0 }
    }

    private enum Kind {
        case document
        case manifest

        init?(path: String) {
            switch URL(fileURLWithPath: path).pathExtension.lowercased() {
            case "graphql", "gql": self = .document
            case "json": self = .manifest
            default: return nil
            }
        }
    }

    private mutating func read(_ path: String) {
        guard let kind = Kind(path: path) else {
            problems.append("\(path): a document's file ends in .graphql, a manifest's in .json.")
            return
        }
        guard let bytes = contents(of: path) else { return }
        switch kind {
        case .document:
            guard let text = String(validating: bytes, as: UTF8.self) else {
                problems.append("\(path): the file is not UTF-8.")
                return
            }
            let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
            add(text, identifier: name) { "\(path):\($0.line):\($0.column)" }
            // Editors end a file with a line break that clients do not send.
            if text.hasSuffix("\n") || text.hasSuffix("\r\n") { know(String(text.dropLast()), identifier: nil) }
        case .manifest: readManifest(bytes, path)
        }
    }

    private mutating func contents(of path: String) -> [UInt8]? {
        do throws(SystemFile.Failure) {
            return try SystemFile.contents(of: path, maximumBytes: Self.maximumFileBytes)
        } catch {
            problems.append("\(path): the file cannot be used: \(error.reason).")
            return nil
        }
    }

    private mutating func readManifest(_ bytes: [UInt8], _ path: String) {
        do throws(DocumentManifestError) {
            for entry in try DocumentManifest(json: bytes).entries {
                guard problems.count < Self.maximumProblems else { return }
                add(entry.text, identifier: entry.identifier) {
                    "\(path): \"\(entry.identifier)\", line \($0.line), column \($0.column) of its text"
                }
            }
        } catch {
            problems.append("\(path) is no manifest: \(error.message).")
        }
    }

    private mutating func add(_ text: String, identifier: String, at location: (SourceLocation) -> String) {
        do throws(RequestErrors) {
            try executor.check(DocumentText(text))
        } catch {
            problems += error.errors.map { error in
                location(error.locations.first ?? SourceLocation(line: 1, column: 1)) + ": " + error.message
            }
            return
        }
        if !know(text, identifier: identifier) {
            let start = location(SourceLocation(line: 1, column: 1))
            problems.append("\(start): another document has the name \"\(identifier)\" already. Rename one.")
        }
    }

    /// `false` when the name stands for another document already.
    @discardableResult
    private mutating func know(_ text: String, identifier: String?) -> Bool {
        guard let digest = DocumentDigest(hash(Array(text.utf8))) else { return false }
        return documents.add(text, digest: digest, identifier: identifier)
    }
}
