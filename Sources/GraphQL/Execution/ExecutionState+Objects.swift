// The one file that handles objects; compiled for the application's own type.
extension ExecutionState {
    /// Puts the values of a column into its cells, and their objects among the
    /// parents of the next level.
    @inlinable
    mutating func store<Object: Sendable>(_ values: consuming [ResolvedValue<Object>], of call: FieldCall) {
        let first = reserveColumn(values.count)
        if call.naming != nil { return storeByType(values, at: first, of: call) }
        guard call.selection >= 0 else {
            var none: [Object] = []
            return store(values, at: first, of: call, (-1, 0), &none)
        }
        let target = open(call.selection)
        var objects: [Object] = []
        self.store(values, at: first, of: call, target, &objects)
        fill(target.group, with: objects)
    }

    /// Objects of one type are put into their group together: `target` says where the first goes.
    ///
    /// They are moved out of the values, because a copy retains, and later releases,
    /// every string an object holds.
    @inlinable
    mutating func store<Object: Sendable>(
        _ values: consuming [ResolvedValue<Object>],
        at first: Int,
        of call: FieldCall,
        _ target: (group: Int, row: Int),
        _ objects: inout [Object]
    ) {
        for index in values.indices {
            let cell = first + index
            var value = ResolvedValue<Object>.null
            swap(&value, &values[index])
            switch consume value {
            case .null: break
            case .leaf(let value): setLeaf(cell, value)
            case .failure(let error): setFailure(cell, error)
            case .object where target.group < 0: setFailure(cell, call.objectForLeaf)
            case .objects where target.group < 0: setFailure(cell, call.objectForLeaf)
            case .object(let object):
                setObject(cell, group: target.group, row: target.row + objects.count)
                objects.append(object)
            case .objects(let list):
                setObjects(cell, group: target.group, first: target.row + objects.count, count: list.count)
                if objects.isEmpty { objects = list } else { objects += list }
            case .list(let list): storeList(list, at: cell, of: call, target, &objects)
            }
        }
    }

    @inlinable
    mutating func storeList<Object: Sendable>(
        _ list: consuming [ResolvedValue<Object>],
        at cell: Int,
        of call: FieldCall,
        _ target: (group: Int, row: Int),
        _ objects: inout [Object]
    ) {
        guard target.group >= 0, list.allSatisfy({ if case .object = $0 { true } else { false } }) else {
            let first = reserve(list.count)
            setList(cell, first: first, count: list.count)
            return self.store(list, at: first, of: call, target, &objects)
        }
        setObjects(cell, group: target.group, first: target.row + objects.count, count: list.count)
        // Only at first: asking for exact room again and again would move all objects each time.
        if objects.isEmpty { objects.reserveCapacity(list.count) }
        list.withUnsafeMutableBufferPointer { list in
            for index in list.indices {
                var value = ResolvedValue<Object>.null
                swap(&value, &list[index])
                if case .object(let object) = consume value { objects.append(object) }
            }
        }
    }

    @inlinable
    mutating func fill<Object: Sendable>(_ group: Int, with objects: [Object]) {
        if !objects.isEmpty { fill(group, with: ObjectColumn(objects)) }
    }
}

/// Objects of an abstract type's values, by the selection of their own type.
@usableFromInline
struct ObjectsByType<Object: Sendable> {
    @usableFromInline var buckets: [Bucket] = []

    @usableFromInline
    struct Bucket {
        @usableFromInline let selection: Int
        @usableFromInline let group: Int
        @usableFromInline let firstRow: Int
        @usableFromInline var objects: [Object]

        @inlinable
        init(selection: Int, target: (group: Int, row: Int)) {
            self.selection = selection
            group = target.group
            firstRow = target.row
            objects = []
        }
    }

    @inlinable
    init() {}

    @inlinable
    mutating func bucket(_ selection: Int, in state: inout ExecutionState) -> Int {
        if let index = buckets.firstIndex(where: { $0.selection == selection }) { return index }
        buckets.append(Bucket(selection: selection, target: state.open(selection)))
        return buckets.count - 1
    }
}

// Values of abstract types.
extension ExecutionState {
    @inlinable
    mutating func storeByType<Object: Sendable>(
        _ values: [ResolvedValue<Object>],
        at first: Int,
        of call: FieldCall
    ) {
        var objects = ObjectsByType<Object>()
        storeByType(values, at: first, of: call, &objects)
        for bucket in objects.buckets { fill(bucket.group, with: bucket.objects) }
    }

    @inlinable
    mutating func storeByType<Object: Sendable>(
        _ values: [ResolvedValue<Object>],
        at first: Int,
        of call: FieldCall,
        _ objects: inout ObjectsByType<Object>
    ) {
        var cell = first
        for value in values {
            switch value {
            case .null: break
            case .leaf(let value): setLeaf(cell, value)
            case .failure(let error): setFailure(cell, error)
            case .object(let object): storeByType(object, at: cell, of: call, &objects)
            case .objects(let list):
                let first = reserve(list.count)
                setList(cell, first: first, count: list.count)
                for (index, object) in list.enumerated() {
                    storeByType(object, at: first + index, of: call, &objects)
                }
            case .list(let list):
                let first = reserve(list.count)
                setList(cell, first: first, count: list.count)
                storeByType(list, at: first, of: call, &objects)
            }
            cell += 1
        }
    }

    @inlinable
    mutating func storeByType<Object: Sendable>(
        _ object: Object,
        at cell: Int,
        of call: FieldCall,
        _ objects: inout ObjectsByType<Object>
    ) {
        do throws(GraphQLError) {
            guard let naming = call.naming else { throw call.objectForLeaf }
            let name = unsafeDowncast(naming, to: TypeNaming<Object>.self).name(object)
            let bucket = objects.bucket(try call.selection(ofType: name), in: &self)
            let row = objects.buckets[bucket].firstRow + objects.buckets[bucket].objects.count
            objects.buckets[bucket].objects.append(object)
            setObject(cell, group: objects.buckets[bucket].group, row: row)
        } catch {
            setFailure(cell, error)
        }
    }
}
