import TocsinAPI
import TocsinCore

/// The parts of the server that a reload changes.
struct ReloadableParts: Sendable {
    let process: ProcessPart
    let store: StorePart
    let signIn: SignInPart
    let access: AccessPart
    let push: PushPart
    let api: APIPart
    let upkeep: UpkeepPart
    let front: FrontPart
}

/// What a reload will do, made and checked without changing anything.
struct ReloadPlan {
    /// What to run, in this order.
    private(set) var steps: [ReloadStep] = []
    /// Everything that is wrong, a sentence each.
    private(set) var problems: [String] = []
    /// Routes and documents as their files are now; nil where something is wrong with them.
    private(set) var declarations: Declarations?

    init(_ parts: ReloadableParts, from old: Settings, to new: Settings, _ declared: Declarations) {
        let declarations = found { () throws(StartError) in try declared.readAnew(new) }
        self.declarations = declarations
        let categories = found { () throws(StartError) in
            try Declarations.categories(path: new.server.categoriesPath)
        }
        add { () throws(StartError) in try parts.store.reloading(new) }
        if let categories {
            add { () throws(StartError) in try parts.push.reloading(new, from: old, categories) }
            let list = categories.categories
            steps.append { parts.api.services.reloadableCategories.replace(with: list) }
        }
        // Certificates are checked even where routes are wrong: all is told at once.
        add { () throws(StartError) in try parts.front.reloading(new, declarations ?? declared) }
        if new.signIn != old.signIn {
            steps.append { parts.signIn.providers?.reload(new.signIn) }
            add { () throws(StartError) in try parts.access.reloading(new.signIn) }
        }
        steps.append {
            parts.upkeep.reload(new)
            if new.server.logLevel != old.server.logLevel { parts.process.log.control.setUsual(new.server.level) }
        }
    }

    private mutating func add(_ prepare: () throws(StartError) -> ReloadStep) {
        if let step = found(prepare) { steps.append(step) }
    }

    private mutating func found<Value>(_ read: () throws(StartError) -> Value) -> Value? {
        do throws(StartError) {
            return try read()
        } catch {
            problems.append(error.description)
            return nil
        }
    }
}
