import Foundation
import Testing

/// A Markdown page of the repository, as text.
struct MarkdownPage: CustomTestStringConvertible {
    /// From the repository's folder.
    let path: String
    let lines: [String]

    var testDescription: String { path }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// All pages, but for those in folders that begin with a dot: what is built, and the history.
    static let all: [MarkdownPage] = {
        let options: FileManager.DirectoryEnumerationOptions = [.skipsHiddenFiles]
        let found = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil, options: options)
        let pages = (found?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "md" }
        return pages.compactMap { page in
            guard let text = try? String(contentsOf: page, encoding: .utf8) else { return nil }
            let path = page.standardizedFileURL.path.dropFirst(root.standardizedFileURL.path.count + 1)
            return MarkdownPage(path: String(path), lines: text.components(separatedBy: "\n"))
        }.sorted { $0.path < $1.path }
    }()

    /// The page or other file at a path from the repository's folder.
    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appendingPathComponent(path).path)
    }

    /// The lines outside of blocks of code, with their numbers.
    var prose: [(number: Int, text: String)] {
        var isCode = false
        return lines.enumerated().compactMap { index, line in
            if line.trimmingCharacters(in: .whitespaces).hasPrefix("```") {
                isCode.toggle()
                return nil
            }
            return isCode ? nil : (index + 1, line)
        }
    }

    /// The words that blocks of code are marked with, and the line that each begins on.
    var marks: [(number: Int, text: String)] {
        var isCode = false
        return lines.enumerated().compactMap { index, line in
            let text = line.trimmingCharacters(in: .whitespaces)
            guard text.hasPrefix("```") else { return nil }
            isCode.toggle()
            return isCode ? (index + 1, String(text.dropFirst(3))) : nil
        }
    }

    /// The items of the page's lists, each on one line.
    var items: [String] {
        var items: [String] = []
        var isItem = false
        for (_, line) in prose {
            if line.hasPrefix("- ") {
                items.append(String(line.dropFirst(2)))
                isItem = true
            } else if isItem, line.hasPrefix("  "), let last = items.popLast() {
                items.append(last + " " + line.trimmingCharacters(in: .whitespaces))
            } else {
                isItem = false
            }
        }
        return items
    }

    /// Where its links lead that are no addresses of the web, and the line that each stands on.
    var links: [(number: Int, target: String)] {
        prose.filter { $0.text.has("](") }.flatMap { number, line in
            // What stands in code is no link.
            line.replacing(/`[^`]*`/, with: "").matches(of: /\]\(([^)\s]+)\)/).map { (number, String($0.output.1)) }
        }.filter { !$0.target.contains(/^[a-z]+:/) }
    }

    /// What its headings are called in links, as GitHub makes it of their words.
    var anchors: Set<String> {
        var counts: [String: Int] = [:]
        var anchors: Set<String> = []
        for (_, line) in prose where line.hasPrefix("#") {
            let heading = line.drop { $0 == "#" }.replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.output.1 }
                .trimmingCharacters(in: .whitespaces).lowercased()
            let kept = heading.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
            let name = kept.replacing(" ", with: "-")
            let count = counts[name, default: 0]
            counts[name] = count + 1
            anchors.insert(count == 0 ? name : "\(name)-\(count)")
        }
        return anchors
    }

    /// The path from the repository's folder that a link's path leads to; nil beyond that folder.
    func path(to target: String) -> String? {
        var parts = path.split(separator: "/").dropLast().map(String.init)
        for part in target.split(separator: "/") {
            switch part {
            case ".": continue
            case "..":
                if parts.popLast() == nil { return nil }
            default: parts.append(String(part))
            }
        }
        return parts.joined(separator: "/")
    }
}
