//! Numbers of SPIR-V and of the OpenCL.std extended instruction set, as far as they are used. From
//! the machine-readable grammars of the Khronos Group.

/// Instructions.
pub mod op {
    pub const BITCAST: u16 = 124;
    pub const BITWISE_AND: u16 = 199;
    pub const BITWISE_OR: u16 = 197;
    pub const BITWISE_XOR: u16 = 198;
    pub const BRANCH: u16 = 249;
    pub const BRANCH_CONDITIONAL: u16 = 250;
    pub const CAPABILITY: u16 = 17;
    pub const CAPTURE_EVENT_PROFILING_INFO: u16 = 302;
    pub const COMPOSITE_CONSTRUCT: u16 = 80;
    pub const COMPOSITE_EXTRACT: u16 = 81;
    pub const COMPOSITE_INSERT: u16 = 82;
    pub const CONSTANT: u16 = 43;
    pub const CONSTANT_COMPOSITE: u16 = 44;
    pub const CONSTANT_COMPOSITE_CONTINUED_INTEL: u16 = 6091;
    pub const CONSTANT_FALSE: u16 = 42;
    pub const CONSTANT_NULL: u16 = 46;
    pub const CONSTANT_SAMPLER: u16 = 45;
    pub const CONSTANT_TRUE: u16 = 41;
    pub const CONVERT_F_TO_S: u16 = 110;
    pub const CONVERT_F_TO_U: u16 = 109;
    pub const CONVERT_PTR_TO_U: u16 = 117;
    pub const CONVERT_S_TO_F: u16 = 111;
    pub const CONVERT_U_TO_F: u16 = 112;
    pub const CONVERT_U_TO_PTR: u16 = 120;
    pub const COPY_MEMORY_SIZED: u16 = 64;
    pub const CREATE_USER_EVENT: u16 = 299;
    pub const DECORATE: u16 = 71;
    pub const ENTRY_POINT: u16 = 15;
    pub const EXECUTION_MODE: u16 = 16;
    pub const EXTENSION: u16 = 10;
    pub const EXT_INST: u16 = 12;
    pub const EXT_INST_IMPORT: u16 = 11;
    pub const FUNCTION: u16 = 54;
    pub const FUNCTION_CALL: u16 = 57;
    pub const FUNCTION_END: u16 = 56;
    pub const FUNCTION_PARAMETER: u16 = 55;
    pub const F_ADD: u16 = 129;
    pub const F_CONVERT: u16 = 115;
    pub const F_DIV: u16 = 136;
    pub const F_MUL: u16 = 133;
    pub const F_NEGATE: u16 = 127;
    pub const F_ORD_EQUAL: u16 = 180;
    pub const F_ORD_GREATER_THAN: u16 = 186;
    pub const F_ORD_GREATER_THAN_EQUAL: u16 = 190;
    pub const F_ORD_LESS_THAN: u16 = 184;
    pub const F_ORD_LESS_THAN_EQUAL: u16 = 188;
    pub const F_ORD_NOT_EQUAL: u16 = 182;
    pub const F_REM: u16 = 140;
    pub const F_SUB: u16 = 131;
    pub const F_UNORD_NOT_EQUAL: u16 = 183;
    pub const GENERIC_CAST_TO_PTR: u16 = 122;
    pub const GET_DEFAULT_QUEUE: u16 = 303;
    pub const GET_KERNEL_NDRANGE_MAX_SUB_GROUP_SIZE: u16 = 294;
    pub const GET_KERNEL_NDRANGE_SUB_GROUP_COUNT: u16 = 293;
    pub const GET_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE: u16 = 296;
    pub const GET_KERNEL_WORK_GROUP_SIZE: u16 = 295;
    pub const GROUP_BITWISE_AND_KHR: u16 = 6403;
    pub const GROUP_BITWISE_OR_KHR: u16 = 6404;
    pub const GROUP_BITWISE_XOR_KHR: u16 = 6405;
    pub const GROUP_F_ADD: u16 = 265;
    pub const GROUP_F_MAX: u16 = 269;
    pub const GROUP_F_MIN: u16 = 266;
    pub const GROUP_F_MUL_KHR: u16 = 6402;
    pub const GROUP_I_ADD: u16 = 264;
    pub const GROUP_I_MUL_KHR: u16 = 6401;
    pub const GROUP_LOGICAL_AND_KHR: u16 = 6406;
    pub const GROUP_LOGICAL_OR_KHR: u16 = 6407;
    pub const GROUP_LOGICAL_XOR_KHR: u16 = 6408;
    pub const GROUP_NON_UNIFORM_ALL: u16 = 334;
    pub const GROUP_NON_UNIFORM_ALL_EQUAL: u16 = 336;
    pub const GROUP_NON_UNIFORM_ANY: u16 = 335;
    pub const GROUP_NON_UNIFORM_BALLOT: u16 = 339;
    pub const GROUP_NON_UNIFORM_BALLOT_BIT_COUNT: u16 = 342;
    pub const GROUP_NON_UNIFORM_BALLOT_BIT_EXTRACT: u16 = 341;
    pub const GROUP_NON_UNIFORM_BALLOT_FIND_LSB: u16 = 343;
    pub const GROUP_NON_UNIFORM_BALLOT_FIND_MSB: u16 = 344;
    pub const GROUP_NON_UNIFORM_BITWISE_AND: u16 = 359;
    pub const GROUP_NON_UNIFORM_BITWISE_OR: u16 = 360;
    pub const GROUP_NON_UNIFORM_BITWISE_XOR: u16 = 361;
    pub const GROUP_NON_UNIFORM_BROADCAST: u16 = 337;
    pub const GROUP_NON_UNIFORM_BROADCAST_FIRST: u16 = 338;
    pub const GROUP_NON_UNIFORM_ELECT: u16 = 333;
    pub const GROUP_NON_UNIFORM_F_ADD: u16 = 350;
    pub const GROUP_NON_UNIFORM_F_MAX: u16 = 358;
    pub const GROUP_NON_UNIFORM_F_MIN: u16 = 355;
    pub const GROUP_NON_UNIFORM_F_MUL: u16 = 352;
    pub const GROUP_NON_UNIFORM_INVERSE_BALLOT: u16 = 340;
    pub const GROUP_NON_UNIFORM_I_ADD: u16 = 349;
    pub const GROUP_NON_UNIFORM_I_MUL: u16 = 351;
    pub const GROUP_NON_UNIFORM_LOGICAL_AND: u16 = 362;
    pub const GROUP_NON_UNIFORM_LOGICAL_OR: u16 = 363;
    pub const GROUP_NON_UNIFORM_LOGICAL_XOR: u16 = 364;
    pub const GROUP_NON_UNIFORM_ROTATE_KHR: u16 = 4431;
    pub const GROUP_NON_UNIFORM_SHUFFLE: u16 = 345;
    pub const GROUP_NON_UNIFORM_SHUFFLE_DOWN: u16 = 348;
    pub const GROUP_NON_UNIFORM_SHUFFLE_UP: u16 = 347;
    pub const GROUP_NON_UNIFORM_SHUFFLE_XOR: u16 = 346;
    pub const GROUP_NON_UNIFORM_S_MAX: u16 = 356;
    pub const GROUP_NON_UNIFORM_S_MIN: u16 = 353;
    pub const GROUP_NON_UNIFORM_U_MAX: u16 = 357;
    pub const GROUP_NON_UNIFORM_U_MIN: u16 = 354;
    pub const GROUP_S_MAX: u16 = 271;
    pub const GROUP_S_MIN: u16 = 268;
    pub const GROUP_U_MAX: u16 = 270;
    pub const GROUP_U_MIN: u16 = 267;
    pub const IN_BOUNDS_ACCESS_CHAIN: u16 = 66;
    pub const IN_BOUNDS_PTR_ACCESS_CHAIN: u16 = 70;
    pub const IS_FINITE: u16 = 158;
    pub const IS_INF: u16 = 157;
    pub const IS_NAN: u16 = 156;
    pub const IS_NORMAL: u16 = 159;
    pub const I_ADD: u16 = 128;
    pub const I_EQUAL: u16 = 170;
    pub const I_MUL: u16 = 132;
    pub const I_NOT_EQUAL: u16 = 171;
    pub const I_SUB: u16 = 130;
    pub const LABEL: u16 = 248;
    pub const LINE: u16 = 8;
    pub const LOAD: u16 = 61;
    pub const LOGICAL_EQUAL: u16 = 164;
    pub const LOGICAL_NOT: u16 = 168;
    pub const LOGICAL_NOT_EQUAL: u16 = 165;
    pub const LOOP_MERGE: u16 = 246;
    pub const MEMBER_NAME: u16 = 6;
    pub const MEMORY_MODEL: u16 = 14;
    pub const NAME: u16 = 5;
    pub const NOT: u16 = 200;
    pub const ORDERED: u16 = 162;
    pub const PHI: u16 = 245;
    pub const PTR_CAST_TO_GENERIC: u16 = 121;
    pub const RELEASE_EVENT: u16 = 298;
    pub const RETAIN_EVENT: u16 = 297;
    pub const RETURN: u16 = 253;
    pub const RETURN_VALUE: u16 = 254;
    pub const SAT_CONVERT_S_TO_U: u16 = 118;
    pub const SAT_CONVERT_U_TO_S: u16 = 119;
    pub const SELECT: u16 = 169;
    pub const SET_USER_EVENT_STATUS: u16 = 301;
    pub const SHIFT_LEFT_LOGICAL: u16 = 196;
    pub const SHIFT_RIGHT_ARITHMETIC: u16 = 195;
    pub const SHIFT_RIGHT_LOGICAL: u16 = 194;
    pub const SIGN_BIT_SET: u16 = 160;
    pub const SOURCE: u16 = 3;
    pub const SPEC_CONSTANT_OP: u16 = 52;
    pub const STORE: u16 = 62;
    pub const STRING: u16 = 7;
    pub const SUBGROUP_SHUFFLE_DOWN_INTEL: u16 = 5572;
    pub const SUBGROUP_SHUFFLE_INTEL: u16 = 5571;
    pub const SUBGROUP_SHUFFLE_UP_INTEL: u16 = 5573;
    pub const SUBGROUP_SHUFFLE_XOR_INTEL: u16 = 5574;
    pub const SWITCH: u16 = 251;
    pub const S_CONVERT: u16 = 114;
    pub const S_DIV: u16 = 135;
    pub const S_GREATER_THAN: u16 = 173;
    pub const S_GREATER_THAN_EQUAL: u16 = 175;
    pub const S_LESS_THAN: u16 = 177;
    pub const S_LESS_THAN_EQUAL: u16 = 179;
    pub const S_NEGATE: u16 = 126;
    pub const S_REM: u16 = 138;
    pub const TYPE_ARRAY: u16 = 28;
    pub const TYPE_BOOL: u16 = 20;
    pub const TYPE_DEVICE_EVENT: u16 = 35;
    pub const TYPE_EVENT: u16 = 34;
    pub const TYPE_FLOAT: u16 = 22;
    pub const TYPE_FORWARD_POINTER: u16 = 39;
    pub const TYPE_FUNCTION: u16 = 33;
    pub const TYPE_IMAGE: u16 = 25;
    pub const TYPE_INT: u16 = 21;
    pub const TYPE_NAMED_BARRIER: u16 = 327;
    pub const TYPE_OPAQUE: u16 = 31;
    pub const TYPE_PIPE: u16 = 38;
    pub const TYPE_POINTER: u16 = 32;
    pub const TYPE_QUEUE: u16 = 37;
    pub const TYPE_RESERVE_ID: u16 = 36;
    pub const TYPE_SAMPLER: u16 = 26;
    pub const TYPE_STRUCT: u16 = 30;
    pub const TYPE_VECTOR: u16 = 23;
    pub const TYPE_VOID: u16 = 19;
    pub const UNDEF: u16 = 1;
    pub const UNORDERED: u16 = 163;
    pub const UNREACHABLE: u16 = 255;
    pub const U_CONVERT: u16 = 113;
    pub const U_DIV: u16 = 134;
    pub const U_GREATER_THAN: u16 = 172;
    pub const U_GREATER_THAN_EQUAL: u16 = 174;
    pub const U_LESS_THAN: u16 = 176;
    pub const U_LESS_THAN_EQUAL: u16 = 178;
    pub const U_MOD: u16 = 137;
    pub const VARIABLE: u16 = 59;
    pub const VECTOR_EXTRACT_DYNAMIC: u16 = 77;
    pub const VECTOR_INSERT_DYNAMIC: u16 = 78;
    pub const VECTOR_SHUFFLE: u16 = 79;
}

/// Instructions of OpenCL.std, under their own names.
#[allow(non_upper_case_globals)]
pub mod std {
    pub const acos: u16 = 0;
    pub const acosh: u16 = 1;
    pub const acospi: u16 = 2;
    pub const asin: u16 = 3;
    pub const asinh: u16 = 4;
    pub const asinpi: u16 = 5;
    pub const atan: u16 = 6;
    pub const atan2: u16 = 7;
    pub const atan2pi: u16 = 10;
    pub const atanh: u16 = 8;
    pub const atanpi: u16 = 9;
    pub const bitselect: u16 = 186;
    pub const cbrt: u16 = 11;
    pub const ceil: u16 = 12;
    pub const clz: u16 = 151;
    pub const copysign: u16 = 13;
    pub const cos: u16 = 14;
    pub const cosh: u16 = 15;
    pub const cospi: u16 = 16;
    pub const cross: u16 = 104;
    pub const ctz: u16 = 152;
    pub const degrees: u16 = 96;
    pub const distance: u16 = 105;
    pub const erf: u16 = 18;
    pub const erfc: u16 = 17;
    pub const exp: u16 = 19;
    pub const exp10: u16 = 21;
    pub const exp2: u16 = 20;
    pub const expm1: u16 = 22;
    pub const fabs: u16 = 23;
    pub const fast_distance: u16 = 108;
    pub const fast_length: u16 = 109;
    pub const fast_normalize: u16 = 110;
    pub const fclamp: u16 = 95;
    pub const fdim: u16 = 24;
    pub const floor: u16 = 25;
    pub const fma: u16 = 26;
    pub const fmax: u16 = 27;
    pub const fmax_common: u16 = 97;
    pub const fmin: u16 = 28;
    pub const fmin_common: u16 = 98;
    pub const fmod: u16 = 29;
    pub const fract: u16 = 30;
    pub const frexp: u16 = 31;
    pub const half_cos: u16 = 67;
    pub const half_divide: u16 = 68;
    pub const half_exp: u16 = 69;
    pub const half_exp10: u16 = 71;
    pub const half_exp2: u16 = 70;
    pub const half_log: u16 = 72;
    pub const half_log10: u16 = 74;
    pub const half_log2: u16 = 73;
    pub const half_powr: u16 = 75;
    pub const half_recip: u16 = 76;
    pub const half_rsqrt: u16 = 77;
    pub const half_sin: u16 = 78;
    pub const half_sqrt: u16 = 79;
    pub const half_tan: u16 = 80;
    pub const hypot: u16 = 32;
    pub const ilogb: u16 = 33;
    pub const ldexp: u16 = 34;
    pub const length: u16 = 106;
    pub const lgamma: u16 = 35;
    pub const lgamma_r: u16 = 36;
    pub const log: u16 = 37;
    pub const log10: u16 = 39;
    pub const log1p: u16 = 40;
    pub const log2: u16 = 38;
    pub const logb: u16 = 41;
    pub const mad: u16 = 42;
    pub const maxmag: u16 = 43;
    pub const minmag: u16 = 44;
    pub const mix: u16 = 99;
    pub const modf: u16 = 45;
    pub const nan: u16 = 46;
    pub const native_cos: u16 = 81;
    pub const native_divide: u16 = 82;
    pub const native_exp: u16 = 83;
    pub const native_exp10: u16 = 85;
    pub const native_exp2: u16 = 84;
    pub const native_log: u16 = 86;
    pub const native_log10: u16 = 88;
    pub const native_log2: u16 = 87;
    pub const native_powr: u16 = 89;
    pub const native_recip: u16 = 90;
    pub const native_rsqrt: u16 = 91;
    pub const native_sin: u16 = 92;
    pub const native_sqrt: u16 = 93;
    pub const native_tan: u16 = 94;
    pub const nextafter: u16 = 47;
    pub const normalize: u16 = 107;
    pub const popcount: u16 = 166;
    pub const pow: u16 = 48;
    pub const pown: u16 = 49;
    pub const powr: u16 = 50;
    pub const prefetch: u16 = 185;
    pub const radians: u16 = 100;
    pub const remainder: u16 = 51;
    pub const remquo: u16 = 52;
    pub const rint: u16 = 53;
    pub const rootn: u16 = 54;
    pub const rotate: u16 = 161;
    pub const round: u16 = 55;
    pub const rsqrt: u16 = 56;
    pub const s_abs: u16 = 141;
    pub const s_abs_diff: u16 = 142;
    pub const s_add_sat: u16 = 143;
    pub const s_clamp: u16 = 149;
    pub const s_hadd: u16 = 145;
    pub const s_mad24: u16 = 167;
    pub const s_mad_hi: u16 = 153;
    pub const s_mad_sat: u16 = 155;
    pub const s_max: u16 = 156;
    pub const s_min: u16 = 158;
    pub const s_mul24: u16 = 169;
    pub const s_mul_hi: u16 = 160;
    pub const s_rhadd: u16 = 147;
    pub const s_sub_sat: u16 = 162;
    pub const s_upsample: u16 = 165;
    pub const select: u16 = 187;
    pub const shuffle: u16 = 182;
    pub const shuffle2: u16 = 183;
    pub const sign: u16 = 103;
    pub const sin: u16 = 57;
    pub const sincos: u16 = 58;
    pub const sinh: u16 = 59;
    pub const sinpi: u16 = 60;
    pub const smoothstep: u16 = 102;
    pub const sqrt: u16 = 61;
    pub const step: u16 = 101;
    pub const tan: u16 = 62;
    pub const tanh: u16 = 63;
    pub const tanpi: u16 = 64;
    pub const tgamma: u16 = 65;
    pub const trunc: u16 = 66;
    pub const u_abs: u16 = 201;
    pub const u_abs_diff: u16 = 202;
    pub const u_add_sat: u16 = 144;
    pub const u_clamp: u16 = 150;
    pub const u_hadd: u16 = 146;
    pub const u_mad24: u16 = 168;
    pub const u_mad_hi: u16 = 204;
    pub const u_mad_sat: u16 = 154;
    pub const u_max: u16 = 157;
    pub const u_min: u16 = 159;
    pub const u_mul24: u16 = 170;
    pub const u_mul_hi: u16 = 203;
    pub const u_rhadd: u16 = 148;
    pub const u_sub_sat: u16 = 163;
    pub const u_upsample: u16 = 164;
    pub const vload_half: u16 = 173;
    pub const vload_halfn: u16 = 174;
    pub const vloada_halfn: u16 = 179;
    pub const vstore_half: u16 = 175;
    pub const vstore_half_r: u16 = 176;
    pub const vstore_halfn: u16 = 177;
    pub const vstore_halfn_r: u16 = 178;
    pub const vstorea_halfn: u16 = 180;
    pub const vstorea_halfn_r: u16 = 181;
}

/// Built-in variables.
pub mod builtin {
    pub const GLOBAL_LINEAR_ID: u32 = 34;
    pub const LOCAL_INVOCATION_INDEX: u32 = 29;
    pub const ENQUEUED_WORKGROUP_SIZE: u32 = 32;
    pub const GLOBAL_INVOCATION_ID: u32 = 28;
    pub const GLOBAL_OFFSET: u32 = 33;
    pub const GLOBAL_SIZE: u32 = 31;
    pub const LOCAL_INVOCATION_ID: u32 = 27;
    pub const NUM_ENQUEUED_SUBGROUPS: u32 = 39;
    pub const NUM_SUBGROUPS: u32 = 38;
    pub const NUM_WORKGROUPS: u32 = 24;
    pub const SUBGROUP_EQ_MASK: u32 = 4416;
    pub const SUBGROUP_GE_MASK: u32 = 4417;
    pub const SUBGROUP_GT_MASK: u32 = 4418;
    pub const SUBGROUP_ID: u32 = 40;
    pub const SUBGROUP_LE_MASK: u32 = 4419;
    pub const SUBGROUP_LOCAL_INVOCATION_ID: u32 = 41;
    pub const SUBGROUP_LT_MASK: u32 = 4420;
    pub const SUBGROUP_MAX_SIZE: u32 = 37;
    pub const SUBGROUP_SIZE: u32 = 36;
    pub const WORKGROUP_ID: u32 = 26;
    pub const WORKGROUP_SIZE: u32 = 25;
    pub const WORK_DIM: u32 = 30;
}

/// Scopes of execution and memory.
pub mod scope {
    pub const DEVICE: u32 = 1;
    pub const SUBGROUP: u32 = 3;
    pub const WORKGROUP: u32 = 2;
}

/// Memory semantics.
pub mod semantics {
    pub const ACQUIRE: u32 = 2;
    pub const ACQUIRE_RELEASE: u32 = 8;
    pub const RELEASE: u32 = 4;
}

/// What group instructions do.
pub mod group_operation {
    pub const CLUSTERED_REDUCE: u32 = 3;
    pub const EXCLUSIVE_SCAN: u32 = 2;
    pub const INCLUSIVE_SCAN: u32 = 1;
    pub const REDUCE: u32 = 0;
}

/// Capabilities.
pub mod capability {
    pub const ADDRESSES: u32 = 4;
    pub const DEVICE_ENQUEUE: u32 = 19;
    pub const FLOAT16: u32 = 9;
    pub const FLOAT16_BUFFER: u32 = 8;
    pub const FLOAT64: u32 = 10;
    pub const GENERIC_POINTER: u32 = 38;
    pub const IMAGE_BASIC: u32 = 13;
    pub const IMAGE_READ_WRITE: u32 = 14;
    pub const INT16: u32 = 22;
    pub const INT64: u32 = 11;
    pub const INT8: u32 = 39;
    pub const KERNEL: u32 = 6;
    pub const LINKAGE: u32 = 5;
    pub const LITERAL_SAMPLER: u32 = 20;
    pub const LONG_COMPOSITES_INTEL: u32 = 6089;
    pub const NAMED_BARRIER: u32 = 59;
    pub const PIPES: u32 = 17;
    pub const SAMPLED1D: u32 = 43;
    pub const SAMPLED_BUFFER: u32 = 46;
    pub const SUBGROUP_DISPATCH: u32 = 58;
    pub const VECTOR16: u32 = 7;
}

/// Decorations, and the attributes of parameters.
pub mod decoration {
    pub const ALIGNMENT: u32 = 44;
    pub const BUILT_IN: u32 = 11;
    pub const BY_VAL: u32 = 2;
    pub const CONSTANT: u32 = 22;
    pub const C_PACKED: u32 = 10;
    pub const FP_FAST_MATH_MODE: u32 = 40;
    pub const FP_ROUNDING_MODE: u32 = 39;
    pub const FUNC_PARAM_ATTR: u32 = 38;
    pub const LINKAGE_ATTRIBUTES: u32 = 41;
    pub const NO_ALIAS: u32 = 4;
    pub const NO_SIGNED_WRAP: u32 = 4469;
    pub const SATURATED_CONVERSION: u32 = 28;
    pub const SRET: u32 = 3;
}

/// Modes of entry points.
pub mod execution_mode {
    pub const CONTRACTION_OFF: u32 = 31;
    pub const LOCAL_SIZE: u32 = 17;
    pub const LOCAL_SIZE_HINT: u32 = 18;
    pub const SUBGROUP_SIZE: u32 = 35;
    pub const VEC_TYPE_HINT: u32 = 30;
}

/// Kinds of linkage.
pub mod linkage {
    pub const EXPORT: u32 = 0;
    pub const IMPORT: u32 = 1;
    pub const LINK_ONCE_ODR: u32 = 2;
}

/// Bits of `OpLoopMerge`.
pub mod loop_control {
    pub const DONT_UNROLL: u32 = 2;
    pub const PARTIAL_COUNT: u32 = 0x100;
    pub const UNROLL: u32 = 1;
}

/// Bits of memory operands.
pub mod memory {
    pub const ALIGNED: u32 = 2;
    pub const NONTEMPORAL: u32 = 4;
    pub const VOLATILE: u32 = 1;
}

/// Storage classes.
pub mod storage {
    pub const CROSS_WORKGROUP: u32 = 5;
    pub const FUNCTION: u32 = 7;
    pub const GENERIC: u32 = 8;
    pub const INPUT: u32 = 1;
    pub const UNIFORM_CONSTANT: u32 = 0;
    pub const WORKGROUP: u32 = 4;
}
