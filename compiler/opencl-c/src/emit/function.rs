//! One function: its variables, and its statements as blocks.
//!
//! Variables live in memory (`OpVariable`), as whoever reads the module promotes them; only those
//! that are never changed after their initialiser are values at once. Control flow is
//! unstructured, as SPIR-V for kernels may be.

use super::module::{Line, ModuleEmitter};
use super::order::sort_blocks;
use super::words::{Id, MAX_LENGTH, Section};
use crate::hir::{Case, ExprId, ExprKind, Function, LabelId, LocalId, Stmt, StmtKind, TempId};
use crate::spirv::{decoration, loop_control, op, storage};
use crate::token::{Loc, Unroll};
use crate::types::{Space, TypeId, Types};

/// Cases that are compared one by one rather than listed in a switch: those of ranges wider than
/// this.
const MAX_LISTED_RANGE: u64 = 256;

/// Where a local variable is.
#[derive(Clone, Copy, Debug)]
pub(super) enum LocalPlace {
    /// Not reached yet.
    None,
    /// In memory, at this pointer.
    Memory(Id),
    /// A value: it never changes.
    Value(Id),
}

/// Where `break` and `continue` lead.
#[derive(Clone, Copy, Debug)]
struct Target {
    after: Id,
    /// `None` in a switch.
    step: Option<Id>,
}

pub(super) struct FunctionEmitter<'m, 'a> {
    pub(super) module: &'m mut ModuleEmitter<'a>,
    pub(super) function: &'a Function,
    /// `OpVariable`s of the entry block.
    variables: Section,
    /// Everything after them.
    pub(super) body: Section,
    pub(super) locals: Vec<LocalPlace>,
    pub(super) temps: Vec<Option<Id>>,
    labels: Vec<Id>,
    targets: Vec<Target>,
    /// The block that is being written, if control reaches this place.
    pub(super) block: Option<Id>,
    /// The line that `OpLine` gives what is written next, and the one that it is of.
    line: Option<Line>,
    wanted_line: Option<Line>,
    /// Where blocks begin in `body`, all but the entry.
    starts: Vec<(Id, usize)>,
    /// The block, by number, and where control goes from it.
    jumps: Vec<(usize, Id)>,
    /// Products of the statement being written that sums may contract, with their factors.
    pub(super) products: Vec<(Id, [Id; 2])>,
    /// Where a record that is returned goes.
    pub(super) returned: Option<Id>,
}

impl<'m, 'a> FunctionEmitter<'m, 'a> {
    /// Writes the function, under an identifier that calls may know already, behind the words of a
    /// section.
    pub(super) fn emit(
        module: &'m mut ModuleEmitter<'a>,
        function: &'a Function,
        id: Id,
        words: &mut Section,
    ) {
        let mut labels = Vec::new();
        for _ in 0..function.labels {
            labels.push(module.words.id());
        }
        let body = std::mem::take(&mut module.spare);
        let mut emitter = FunctionEmitter {
            module,
            function,
            variables: Section::default(),
            body,
            locals: vec![LocalPlace::None; function.locals.len()],
            temps: vec![None; function.temps as usize],
            labels,
            targets: Vec::new(),
            block: None,
            line: None,
            wanted_line: None,
            starts: Vec::new(),
            jumps: Vec::new(),
            products: Vec::new(),
            returned: None,
        };
        emitter.head(id, words);
        emitter.module.check_lengths(Some(words), function.loc);
        if let Some(body) = &function.body {
            let entry = emitter.module.words.id();
            words.push(op::LABEL, &[entry.0]);
            emitter.block = Some(entry);
            emitter.parameters_in_memory();
            emitter.statements(body);
            if emitter.block.is_some() {
                emitter.fall_off_the_end();
            }
            if function.labels > 0 {
                sort_blocks(&mut emitter.body, &emitter.starts, entry, &emitter.jumps);
            }
            words.append(&mut emitter.variables);
            words.append(&mut emitter.body);
        }
        words.push(op::FUNCTION_END, &[]);
        emitter.module.spare = emitter.body;
    }

    /// `OpFunction` and its parameters.
    fn head(&mut self, id: Id, words: &mut Section) {
        let function = self.function;
        let ty = self.module.type_of_function(function);
        let control = self.module.function_control(function);
        let returns_record = self.module.in_memory(function.result);
        let result = if returns_record {
            Types::VOID
        } else {
            function.result
        };
        let result = self.module.type_id(result);
        words.push(op::FUNCTION, &[result.0, id.0, control, ty.0]);
        if returns_record {
            let ty = self.module.pointer_to(function.result, Space::Private);
            let id = self.module.words.id();
            words.push(op::FUNCTION_PARAMETER, &[ty.0, id.0]);
            self.module
                .decorate(id, decoration::FUNC_PARAM_ATTR, &[decoration::SRET]);
            self.returned = Some(id);
        }
        for (index, local) in function.locals[..function.params as usize]
            .iter()
            .enumerate()
        {
            let id = self.module.words.id();
            let ty = self.module.parameter_type(local.ty);
            words.push(op::FUNCTION_PARAMETER, &[ty.0, id.0]);
            self.module.decorate_parameter(id, local);
            self.locals[index] = if self.module.in_memory(local.ty) {
                LocalPlace::Memory(id)
            } else {
                LocalPlace::Value(id)
            };
        }
    }

    /// Parameters that change are variables.
    fn parameters_in_memory(&mut self) {
        for index in 0..self.function.params as usize {
            let local = &self.function.locals[index];
            let LocalPlace::Value(value) = self.locals[index] else {
                continue;
            };
            if local.is_mutable {
                let pointer = self.variable(LocalId(index as u32));
                self.push(op::STORE, &[pointer.0, value.0]);
                self.locals[index] = LocalPlace::Memory(pointer);
            }
        }
    }

    /// A variable for a local.
    fn variable(&mut self, id: LocalId) -> Id {
        let local = &self.function.locals[id.0 as usize];
        let pointer = self.allocate(local.ty, local.align);
        self.module.decorate_local(pointer, local);
        pointer
    }

    /// A variable of no local: for captures of blocks, events and the like.
    pub(super) fn scratch_variable(&mut self, ty: TypeId) -> Id {
        let align = self.module.alignment(ty);
        self.allocate(ty, align)
    }

    fn allocate(&mut self, ty: TypeId, align: u64) -> Id {
        let pointer_ty = self.module.pointer_to(ty, Space::Private);
        let pointer = self.module.words.id();
        let operands = [pointer_ty.0, pointer.0, storage::FUNCTION];
        self.variables.push(op::VARIABLE, &operands);
        self.module.decorate_alignment(pointer, ty, align);
        pointer
    }

    /// The pointer of a local in memory.
    pub(super) fn local_pointer(&mut self, id: LocalId) -> Id {
        match self.locals[id.0 as usize] {
            LocalPlace::Memory(pointer) => pointer,
            LocalPlace::None => {
                let pointer = self.variable(id);
                self.locals[id.0 as usize] = LocalPlace::Memory(pointer);
                pointer
            }
            LocalPlace::Value(value) => {
                // Something wants an address after all: a variable that holds the value from here
                // on.
                let pointer = self.variable(id);
                self.push(op::STORE, &[pointer.0, value.0]);
                pointer
            }
        }
    }

    /// Whether a local is a value: it is not changed, and no jump leads past its initialiser.
    pub(super) fn is_value(&self, id: LocalId) -> bool {
        let local = &self.function.locals[id.0 as usize];
        let is_fixed = !local.is_mutable && !local.is_volatile && self.function.labels == 0;
        is_fixed && !self.module.in_memory(local.ty)
    }

    /// Adds an instruction without a result.
    pub(super) fn push(&mut self, opcode: u16, operands: &[u32]) {
        if opcode != op::LABEL {
            self.write_line();
        }
        self.body.push(opcode, operands);
    }

    /// Adds an instruction with a result of a type of the program.
    pub(super) fn value(&mut self, opcode: u16, ty: TypeId, operands: &[u32]) -> Id {
        let ty = self.module.type_id(ty);
        self.value_of(opcode, ty, operands)
    }

    /// Adds an instruction with a result.
    pub(super) fn value_of(&mut self, opcode: u16, ty: Id, operands: &[u32]) -> Id {
        self.write_line();
        let id = self.module.words.id();
        self.body.instruction(opcode, |words| {
            words.extend([ty.0, id.0]);
            words.extend_from_slice(operands);
        });
        id
    }

    /// As [`Self::value_of`], with operands that are in no slice.
    pub(super) fn value_from(
        &mut self,
        opcode: u16,
        ty: Id,
        operands: impl Iterator<Item = u32>,
    ) -> Id {
        self.write_line();
        let id = self.module.words.id();
        self.body.instruction(opcode, |words| {
            words.extend([ty.0, id.0]);
            words.extend(operands);
        });
        id
    }

    pub(super) fn temp(&self, id: TempId) -> Id {
        self.temps[id.0 as usize].expect("a value is bound before it is used")
    }

    /// Begins a block.
    pub(super) fn begin(&mut self, label: Id) {
        debug_assert!(self.block.is_none(), "the block before is ended");
        self.starts.push((label, self.body.words().len()));
        self.push(op::LABEL, &[label.0]);
        self.block = Some(label);
        self.line = None;
    }

    /// Ends the block, if control is in one, with a jump.
    pub(super) fn branch(&mut self, label: Id) {
        if self.block.take().is_some() {
            self.push(op::BRANCH, &[label.0]);
            self.jumps.push((self.starts.len(), label));
        }
    }

    pub(super) fn branch_if(&mut self, condition: Id, then: Id, otherwise: Id) {
        if self.block.take().is_some() {
            self.push(op::BRANCH_CONDITIONAL, &[condition.0, then.0, otherwise.0]);
            let block = self.starts.len();
            self.jumps.extend([(block, then), (block, otherwise)]);
        }
    }

    /// Makes sure that there is a block to write to; what is written to it here is never reached.
    pub(super) fn reopen(&mut self) {
        if self.block.is_none() {
            let label = self.module.words.id();
            self.begin(label);
        }
    }

    /// What is written next comes from there, if source lines are wanted.
    pub(super) fn line(&mut self, loc: Loc) {
        if let Some(line) = self.module.line_of(loc) {
            self.wanted_line = Some(line);
        }
    }

    /// Says the line of the next instruction where that changes: `OpLine` holds to the next one or
    /// the end of the block.
    fn write_line(&mut self) {
        if self.line == self.wanted_line {
            return;
        }
        self.line = self.wanted_line;
        if let Some((file, row, column)) = self.line {
            self.body.push(op::LINE, &[file.0, row, column]);
        }
    }

    pub(super) fn statements(&mut self, all: &'a [Stmt]) {
        for statement in all {
            stacker::maybe_grow(128 << 10, 1 << 20, || self.statement(statement));
            self.module
                .check_lengths(Some(&mut self.body), statement.loc);
        }
    }

    fn statement(&mut self, statement: &'a Stmt) {
        match &statement.kind {
            StmtKind::Label(label) => {
                let label = self.labels[label.0 as usize];
                self.branch(label);
                self.begin(label);
                return;
            }
            StmtKind::Block(inner) => return self.statements(inner),
            _ if self.block.is_none() && !has_labels(statement) => return,
            _ => {}
        }
        self.reopen();
        self.line(statement.loc);
        self.products.clear();
        match &statement.kind {
            StmtKind::Expr(value) => self.effects(*value),
            StmtKind::Declare(local) => {
                if self.module.options.zeroed_variables && !self.is_value(*local) {
                    let pointer = self.local_pointer(*local);
                    let ty = self.function.locals[local.0 as usize].ty;
                    self.store_zero(pointer, ty);
                }
            }
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => self.if_statement(*condition, then, otherwise),
            StmtKind::Loop {
                condition,
                step,
                body,
                test_last,
                unroll,
            } => self.loop_statement(*condition, *step, body, *test_last, *unroll),
            StmtKind::Switch {
                value,
                cases,
                default,
                body,
            } => self.switch_statement(*value, cases, *default, body),
            StmtKind::Goto(label) => {
                let label = self.labels[label.0 as usize];
                self.branch(label);
            }
            StmtKind::Break => {
                let target = self.targets.last().expect("sema checks that there is one");
                let after = target.after;
                self.branch(after);
            }
            StmtKind::Continue => {
                let step = self.targets.iter().rev().find_map(|target| target.step);
                self.branch(step.expect("sema checks that there is one"));
            }
            StmtKind::Return(value) => self.return_statement(*value),
            StmtKind::Label(_) | StmtKind::Block(_) => unreachable!("handled above"),
        }
    }

    fn if_statement(&mut self, condition: ExprId, then: &'a [Stmt], otherwise: &'a [Stmt]) {
        let (yes, after) = (self.module.words.id(), self.module.words.id());
        let no = if otherwise.is_empty() {
            after
        } else {
            self.module.words.id()
        };
        self.condition(condition, yes, no);
        self.begin(yes);
        self.statements(then);
        self.branch(after);
        if !otherwise.is_empty() {
            self.begin(no);
            self.statements(otherwise);
            self.branch(after);
        }
        self.begin(after);
    }

    /// The loop's header has a merge instruction only where a hint asks for one.
    fn loop_statement(
        &mut self,
        condition: Option<ExprId>,
        step: Option<ExprId>,
        body: &'a [Stmt],
        test_last: bool,
        unroll: Option<Unroll>,
    ) {
        let header = self.module.words.id();
        let (inside, next, after) = (
            self.module.words.id(),
            self.module.words.id(),
            self.module.words.id(),
        );
        self.branch(header);
        self.begin(header);
        if let Some(unroll) = unroll {
            self.loop_merge(after, next, unroll);
            if test_last {
                self.branch(inside);
                self.begin(inside);
            }
        }
        if !test_last {
            match condition {
                Some(condition) => self.condition(condition, inside, after),
                None => self.branch(inside),
            }
            self.begin(inside);
        }
        self.targets.push(Target {
            after,
            step: Some(next),
        });
        self.statements(body);
        self.targets.pop();
        self.branch(next);
        self.begin(next);
        if let Some(step) = step {
            self.effects(step);
        }
        match condition {
            Some(condition) if test_last => self.condition(condition, header, after),
            _ => self.branch(header),
        }
        self.begin(after);
    }

    /// `OpLoopMerge` must be the last but one instruction of the header, which has nothing else
    /// here.
    fn loop_merge(&mut self, after: Id, next: Id, unroll: Unroll) {
        let mut operands = vec![after.0, next.0];
        match unroll {
            Unroll::Enable | Unroll::Full => operands.push(loop_control::UNROLL),
            Unroll::Disable | Unroll::Count(0 | 1) => operands.push(loop_control::DONT_UNROLL),
            Unroll::Count(count) => operands.extend([loop_control::PARTIAL_COUNT, count]),
        }
        self.push(op::LOOP_MERGE, &operands);
        let test = self.module.words.id();
        self.branch(test);
        self.begin(test);
    }

    fn switch_statement(
        &mut self,
        value: ExprId,
        cases: &[Case],
        default: Option<LabelId>,
        body: &'a [Stmt],
    ) {
        let ty = self.function[value].ty;
        let selector = self.expr(value);
        let after = self.module.words.id();
        let otherwise = default.map_or(after, |label| self.labels[label.0 as usize]);
        let (listed, wide): (Vec<&Case>, Vec<&Case>) = cases
            .iter()
            .partition(|case| case.high.wrapping_sub(case.low) < MAX_LISTED_RANGE);
        for case in wide {
            self.branch_if_in_range(selector, ty, case);
        }
        let is_long = self
            .module
            .types
            .layout(ty)
            .is_some_and(|(size, _)| size == 8);
        let mut targets = Vec::new();
        for case in listed {
            let label = self.labels[case.label.0 as usize];
            let mut literal = case.low;
            loop {
                targets.push(literal as u32);
                if is_long {
                    targets.push((literal >> 32) as u32);
                }
                targets.push(label.0);
                if literal == case.high {
                    break;
                }
                literal = literal.wrapping_add(1);
            }
        }
        self.switch(selector, otherwise, &targets, 2 + usize::from(is_long));
        self.targets.push(Target { after, step: None });
        self.statements(body);
        self.targets.pop();
        self.branch(after);
        self.begin(after);
    }

    /// `OpSwitch`, of targets that have so many words each. Those that an instruction has no room
    /// for are in others, which its default leads to.
    fn switch(&mut self, selector: Id, otherwise: Id, targets: &[u32], words: usize) {
        let room = (MAX_LENGTH - 3) / words * words;
        let mut rest = targets;
        loop {
            let (here, later) = rest.split_at(rest.len().min(room));
            let default = match later {
                [] => otherwise,
                _ => self.module.words.id(),
            };
            self.write_line();
            self.body.instruction(op::SWITCH, |all| {
                all.extend([selector.0, default.0]);
                all.extend_from_slice(here);
            });
            let block = self.starts.len();
            let labels = here.chunks(words).map(|target| Id(target[words - 1]));
            let labels = [default].into_iter().chain(labels);
            self.jumps.extend(labels.map(|label| (block, label)));
            self.block = None;
            if later.is_empty() {
                return;
            }
            self.begin(default);
            rest = later;
        }
    }

    /// Goes to the case if the value lies in its range, on to a new block otherwise.
    fn branch_if_in_range(&mut self, selector: Id, ty: TypeId, case: &Case) {
        let label = self.labels[case.label.0 as usize];
        let low = self.module.int(ty, case.low);
        let width = self.module.int(ty, case.high.wrapping_sub(case.low));
        let distance = self.value(op::I_SUB, ty, &[selector.0, low.0]);
        let truth = Types::TRUTH;
        let inside = self.value(op::U_LESS_THAN_EQUAL, truth, &[distance.0, width.0]);
        let next = self.module.words.id();
        self.branch_if(inside, label, next);
        self.begin(next);
    }

    fn return_statement(&mut self, value: Option<ExprId>) {
        match value {
            Some(value) if let Some(place) = self.returned => {
                self.store_aggregate(place, value, self.function.result, None);
                self.push(op::RETURN, &[]);
            }
            Some(value) if self.function.result != Types::VOID => {
                let value = self.expr(value);
                self.push(op::RETURN_VALUE, &[value.0]);
            }
            other => {
                if let Some(value) = other {
                    self.effects(value);
                }
                self.push(op::RETURN, &[]);
            }
        }
        self.block = None;
    }

    /// C lets a function end without a value as long as nobody uses it.
    fn fall_off_the_end(&mut self) {
        if self.function.result == Types::VOID || self.returned.is_some() {
            self.push(op::RETURN, &[]);
        } else {
            let result = self.module.type_id(self.function.result);
            let any = self.value_of(op::UNDEF, result, &[]);
            self.push(op::RETURN_VALUE, &[any.0]);
        }
        self.block = None;
    }

    /// Branches by an expression that is a truth; conjunctions and negations become branches
    /// themselves.
    pub(super) fn condition(&mut self, id: ExprId, yes: Id, no: Id) {
        stacker::maybe_grow(128 << 10, 1 << 20, || match self.function[id].kind {
            ExprKind::Negate(inner) => self.condition(inner, no, yes),
            ExprKind::And(left, right) if !self.is_one_condition(left, right) => {
                let both = self.module.words.id();
                self.condition(left, both, no);
                self.begin(both);
                self.condition(right, yes, no);
            }
            ExprKind::Or(left, right) if !self.is_one_condition(left, right) => {
                let other = self.module.words.id();
                self.condition(left, yes, other);
                self.begin(other);
                self.condition(right, yes, no);
            }
            _ => {
                let condition = self.expr(id);
                self.branch_if(condition, yes, no);
            }
        });
    }
}

/// Whether a jump from elsewhere may lead into the statement.
fn has_labels(statement: &Stmt) -> bool {
    let mut work = vec![statement];
    while let Some(statement) = work.pop() {
        match &statement.kind {
            StmtKind::Label(_) => return true,
            StmtKind::Block(inner) => work.extend(inner),
            StmtKind::If {
                then, otherwise, ..
            } => work.extend(then.iter().chain(otherwise)),
            StmtKind::Loop { body, .. } | StmtKind::Switch { body, .. } => work.extend(body),
            _ => {}
        }
    }
    false
}
