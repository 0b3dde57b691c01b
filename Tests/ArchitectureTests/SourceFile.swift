import Foundation
import Testing

extension StringProtocol {
    /// Whether a text stands in this one, byte by byte: `contains` takes a hundred times as long
    /// in what is not optimised.
    func has(_ text: some StringProtocol) -> Bool { strstr(String(self), String(text)) != nil }
}

/// A Swift file of the package, as text.
struct SourceFile: CustomTestStringConvertible {
    /// From the package's folder.
    let path: String
    let lines: [String]
    /// Each line's number and what stands on it before a comment.
    let code: [(number: Int, text: String)]

    var testDescription: String { path }

    init(path: String, lines: [String]) {
        self.path = path
        self.lines = lines
        code = lines.enumerated().compactMap { index, line in
            let text = line.components(separatedBy: "//")[0]
            return text.utf8.allSatisfy { $0 == UInt8(ascii: " ") } ? nil : (index + 1, text)
        }
    }

    /// The folder below Sources or Tests.
    var target: String { String(path.split(separator: "/")[1]) }

    /// The modules of its import lines.
    var imports: [String] {
        lines.compactMap { line in
            guard line.contains("import "), let match = line.firstMatch(of: Self.importLine) else { return nil }
            return String(match.output.module)
        }
    }

    /// Each line that is a comment and nothing else, with its number.
    var commentLines: [(number: Int, text: String)] {
        lines.enumerated().compactMap { index, line in
            line.drop(while: \.isWhitespace).hasPrefix("//") ? (index + 1, line) : nil
        }
    }

    /// Whether a comment that begins so ends on the line before this one, attributes not counted.
    func hasComment(_ mark: String = "//", aboveLine number: Int) -> Bool {
        var index = number - 2
        while index >= 0, lines[index].trimmingCharacters(in: .whitespaces).hasPrefix("@") { index -= 1 }
        return index >= 0 && lines[index].trimmingCharacters(in: .whitespaces).hasPrefix(mark)
    }

    /// The lines that declare something `package`, but for extensions and imports.
    var packageDeclarations: [Int] {
        code.filter { $0.text.contains("package ") && Self.declaresPackage($0.text) }.map(\.number)
    }

    /// Whether `package` stands among the words before the one that says what is declared.
    private static func declaresPackage(_ line: String) -> Bool {
        var isPackage = false
        for word in line.split(separator: " ") where !word.hasPrefix("@") {
            let name = String(word.prefix { $0.isLetter })
            if name == "package" { isPackage = true }
            if declarators.contains(name) { return isPackage }
            guard modifiers.contains(name) else { return false }
        }
        return false
    }

    private static let declarators: Set<String> = [
        "struct", "class", "enum", "protocol", "actor", "func", "var", "let", "init", "typealias", "subscript",
    ]
    private static let modifiers: Set<String> = [
        "package", "public", "private", "fileprivate", "internal", "final", "static", "mutating", "indirect",
        "nonisolated", "convenience", "lazy", "weak", "override", "required",
    ]

    /// The modules that Package.swift gives an executable; nil if it has no such target.
    static func declaredModules(ofExecutable target: String) -> Set<String>? {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        guard let text = try? String(contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8)
        else { return nil }
        for part in text.components(separatedBy: ".executableTarget(").dropFirst() {
            let part = part.components(separatedBy: "swiftSettings:")[0]
            guard part.contains("name: \"\(target)\",") else { continue }
            guard let list = part.split(separator: "dependencies: [").dropFirst().first else { return [] }
            // A product of another package is declared by a constant with its name in lower case.
            return Set(
                list.split { !$0.isLetter && !$0.isNumber }.map(String.init).filter { $0 != "nio" }
                    .map { products[$0] ?? $0 }
            )
        }
        return nil
    }

    private static let products = [
        "argumentParser": "ArgumentParser", "httpTypes": "HTTPTypes", "logging": "Logging", "nioSSL": "NIOSSL",
    ]

    // `Regex` is Sendable in effect but not in its type, so each use makes its own.
    private static var importLine: Regex<(Substring, module: Substring)> {
        /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(?<module>\w+)/
    }

    /// All Swift files below a folder of the package.
    static func all(below folder: String) -> [SourceFile] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let base = root.appendingPathComponent(folder).path
        guard let found = FileManager.default.enumerator(atPath: base) else { return [] }
        return found.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") && $0.contains("/") }.sorted()
            .compactMap { name in
                guard let text = try? String(contentsOfFile: base + "/" + name, encoding: .utf8) else { return nil }
                return SourceFile(path: folder + "/" + name, lines: text.components(separatedBy: "\n"))
            }
    }
}
