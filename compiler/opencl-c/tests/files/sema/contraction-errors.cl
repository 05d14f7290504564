// RUN: check
// ERROR: 10:2: '#pragma fp_contract' can only appear at file scope or at the start of a compound statement
// ERROR: 14:2: '#pragma fp_contract' can only appear at file scope or at the start of a compound statement
#pragma OPENCL FP_CONTRACT OFF

float f(float a) {
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL FP_CONTRACT ON
  float b = a * a + a;
#pragma OPENCL FP_CONTRACT OFF
  if (b > 0)
    {
      ;
#pragma STDC FP_CONTRACT OFF
    }
  return b;
}
