/// Why a text cannot be a setting's value, and what to write.
struct SettingProblem: Error, ExpressibleByStringInterpolation {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    init(stringLiteral text: String) {
        self.text = text
    }
}

/// Everything that is wrong with the settings, so that it can be mended in one go.
package struct SettingsProblems: Error, Sendable, Hashable, CustomStringConvertible {
    /// Sentences, each with where the value came from and what to do.
    package let problems: [String]

    package init(problems: [String]) {
        self.problems = problems
    }

    /// One problem a line under a heading.
    package var description: String {
        let heading = problems.count == 1 ? "A setting is wrong:" : "\(problems.count) settings are wrong:"
        return ([heading] + problems.map { "  - " + $0 }).joined(separator: "\n")
    }
}
