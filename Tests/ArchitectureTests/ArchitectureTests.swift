import Foundation
import Testing

@Suite("Architecture")
struct ArchitectureTests {
    private static let sources = SourceFile.all(below: "Sources")
    /// This suite's own files spell what they look for.
    private static let others = SourceFile.all(below: "Tests").filter { $0.target != "ArchitectureTests" }

    @Test("the sources are found")
    func sourcesAreFound() {
        #expect(Self.sources.count > 50)
    }

    @Test("no two files of the sources have the same name, and no two of the tests")
    func fileNamesAreDistinct() {
        for files in [Self.sources, SourceFile.all(below: "Tests")] {
            let paths = Dictionary(grouping: files.map(\.path)) { $0.split(separator: "/").last ?? "" }
            for paths in paths.values where paths.count > 1 {
                Issue.record("Give them names that say how they differ, or one home: \(paths.sorted())")
            }
        }
    }

    @Test("every target stands in the table of allowed imports")
    func targetsAreListed() {
        let unlisted = Set(Self.sources.map(\.target)).subtracting(AllowedImports.table.keys)
        #expect(unlisted.isEmpty, "Add them to AllowedImports.table: \(unlisted.sorted())")
    }

    @Test("a target imports only what the table allows", arguments: AllowedImports.table.keys.sorted())
    func importsAreAllowed(target: String) {
        let allowed = AllowedImports.table[target, default: []].union(["Synchronization"])
        for file in Self.sources where file.target == target {
            for module in file.imports where !allowed.contains(module) {
                let isExcused = module == "FoundationEssentials" && AllowedImports.essentials[target] != nil
                #expect(isExcused, "\(file.path) imports \(module)")
            }
        }
    }

    @Test("a command declares what it imports, and nothing else", arguments: ["tocsin", "tocsin-bench", "embed-files"])
    func commandsDeclareImports(target: String) throws {
        let declared = try #require(SourceFile.declaredModules(ofExecutable: target))
        let imported = Set(Self.sources.filter { $0.target == target }.flatMap(\.imports))
        #expect(imported.subtracting(AllowedImports.ofSystem).sorted() == declared.sorted())
    }

    @Test("what is counted has a reason in the comment above", arguments: AllowedImports.counted.keys.sorted())
    func countedHasReason(marker: String) {
        var count = 0
        for file in Self.sources + Self.others {
            for line in file.code where line.text.has(marker) {
                count += 1
                #expect(
                    file.hasComment(aboveLine: line.number),
                    "\(file.path):\(line.number) uses \(marker) without a reason above it"
                )
            }
        }
        let most = AllowedImports.counted[marker, default: 0]
        #expect(count <= most, "\(marker) stands \(count) times; AllowedImports.counted allows \(most)")
    }

    @Test("sources contain nothing that ends the process by surprise", arguments: AllowedImports.refused)
    func refusedIsAbsent(word: String) {
        for file in Self.sources {
            for line in file.code where line.text.has(word) {
                Issue.record("\(file.path):\(line.number) contains \(word)")
            }
        }
    }

    @Test("a long file says why at its head")
    func longFilesSayWhy() {
        for file in Self.sources + Self.others where file.lines.count > AllowedImports.mostLines {
            let saysWhy = file.lines.prefix(12).contains { $0.hasPrefix("// Long because") }
            #expect(saysWhy, "\(file.path) has \(file.lines.count) lines")
        }
    }

    @Test("comment lines keep 100 columns")
    func commentWidths() {
        for file in Self.sources + SourceFile.all(below: "Tests") {
            for line in file.commentLines where line.text.utf8.count > 100 && line.text.count > 100 {
                // One word, as an address is, cannot be broken.
                let words = line.text.split(separator: " ").count - 1
                #expect(words == 1, "\(file.path):\(line.number) has \(line.text.count) columns")
            }
        }
    }

    @Test("every package declaration says what it is")
    func packageDeclarationsAreDocumented() {
        for file in Self.sources {
            for line in file.packageDeclarations where !file.hasComment("///", aboveLine: line) {
                Issue.record("\(file.path):\(line) declares something package without a doc comment")
            }
        }
    }

    @Test("texts of help leave the wrapping to the terminal: a line within a paragraph ends with a backslash")
    func helpIsWrapped() {
        for file in Self.sources where file.target == "tocsin" {
            var indent: Int?
            for (number, line) in file.lines.enumerated() {
                let text = line.trimmingCharacters(in: .whitespaces)
                if line.hasSuffix("discussion: \"\"\"") {
                    let end = file.lines[(number + 1)...].first { $0.contains("\"\"\"") } ?? ""
                    indent = end.prefix { $0 == " " }.count
                } else if text.hasPrefix("\"\"\"") {
                    indent = nil
                }
                guard let indent, number + 1 < file.lines.count else { continue }
                let next = file.lines[number + 1]
                let isProse = [line, next].allSatisfy { line in
                    line.prefix { $0 == " " }.count == indent && line.contains { $0.isLowercase }
                        && !line.dropFirst(indent).hasPrefix("\\(")
                }
                let isLast = next.trimmingCharacters(in: .whitespaces).hasPrefix("\"\"\"")
                guard isProse, !isLast, !line.hasSuffix("discussion: \"\"\"") else { continue }
                #expect(line.hasSuffix(" \\"), "\(file.path):\(number + 1) breaks its line")
            }
        }
    }

    @Test(
        "package declarations are told from what is none",
        arguments: [
            ("    package var name: String", true), ("package init(text: String) {", true),
            ("    package private(set) var routes: [Route] = []", true), ("package final class Hub: Sendable {", true),
            ("    @discardableResult package func run() -> Int {", true), ("package import TocsinCore", false),
            ("package extension Hub {", false), ("    let package = 1", false), ("    // package var name", false),
        ]
    )
    func packageLines(line: String, isDeclaration: Bool) {
        #expect(SourceFile(path: "Sources/Any/File.swift", lines: [line]).packageDeclarations.isEmpty != isDeclaration)
    }

    @Test(
        "import lines are read in every form",
        arguments: [
            ("import JSON", "JSON"), ("public import GraphQL", "GraphQL"), ("package import NIOCore", "NIOCore"),
            ("@preconcurrency import Dispatch", "Dispatch"), ("import struct Foundation.Data", "Foundation"),
            ("    internal import func Glibc.read", "Glibc"), ("// import Comment", ""), ("important()", ""),
        ]
    )
    func importLines(line: String, module: String) {
        let file = SourceFile(path: "Sources/Any/File.swift", lines: [line])
        #expect(file.imports == (module.isEmpty ? [] : [module]))
    }
}
