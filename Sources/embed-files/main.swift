import Foundation

// Usage: embed-files OUTPUT.swift TYPENAME FILE…
// Writes an enum whose `files` holds each file's name and text as string literals.
let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
    FileHandle.standardError.write(Data("usage: embed-files OUTPUT.swift TYPENAME FILE...\n".utf8))
    exit(2)
}
var text = "/// Text files embedded at build time, by name, in order of name.\n"
text += "package enum \(arguments[2]) {\n    package static let files: [(name: String, text: String)] = [\n"
for path in arguments.dropFirst(3) {
    let content = try String(contentsOfFile: path, encoding: .utf8)
    let name = URL(filePath: path).lastPathComponent
    text += "        (name: \"\(name)\", text: ###\"\"\"\n\(content)\n\"\"\"###),\n"
}
text += "    ]\n}\n"
try Data(text.utf8).write(to: URL(filePath: arguments[1]))
